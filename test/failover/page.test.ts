import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tsx } from '../support/sources.ts';
import { adapt, pagePorts, readPageConfiguration } from './page.ts';

const page = await readPageConfiguration();
const ports = new Map(Object.values(pagePorts).map((port) => [port as number, port + 40_000]));
const paths = { '/var/lib/': '/tmp/', '/var/run/': '/tmp/', '/usr/lib/': '/tmp/' };
const replacements = { name: 'pg1', address: '127.77.0.11', ports, paths };

describe('page about high availability', () => {
  it('configures all that it says is required', () => {
    for (const setting of [
      'synchronous_mode: true',
      'synchronous_mode_strict: true',
      'failsafe_mode: true',
      'tcp_keepalives_idle: 10',
      'watchdog:\n  mode: required',
    ]) {
      assert.ok(page.patroni.includes(setting), setting);
    }
    for (const setting of ['on-marked-down shutdown-sessions', 'option clitcpka', 'option srvtcpka']) {
      assert.ok(page.haproxy.includes(setting), setting);
    }
    assert.doesNotMatch(page.patroni, /statement_timeout/);
  });

  it('is completely adapted to the loopback interface', () => {
    for (const text of [page.etcd, page.patroni, page.haproxy, page.storage]) {
      const adapted = adapt(text, replacements);
      assert.doesNotMatch(adapted, /MACHINE|ADDRESS|\b10\.0\.|\/var\/|\/usr\/|required/);
      assert.doesNotMatch(adapted, /(:|port )(5000|5432|2379|2380|8008)\b/);
    }
    assert.match(adapt(page.patroni, replacements), /^name: pg1$[^]*^ {2}listen: 127\.77\.0\.11:45432$/m);
  });
});

describe('npm run failover', () => {
  it('prints the names of missing packages', () => {
    const run = fileURLToPath(new URL('run.ts', import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, ['--import', tsx, run], {
      encoding: 'utf8',
      env: { PATH: '/nonexistent' },
    });
    assert.match(stdout, /^Not run: these Debian packages are missing: (?=.*etcd-server)(?=.*patroni)/);
    assert.equal(status, 2);
  });
});
