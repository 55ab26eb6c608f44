import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Creates a certificate for 127.0.0.1, and returns the paths of the certificate and its key. */
export function issueCertificate(folder: string): { certificate: string; key: string } {
  const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const output = ['-keyout', files.key, '-out', files.certificate];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...name, ...output];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return files;
}
