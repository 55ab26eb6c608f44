import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readDocument } from '../support/documents.ts';

it('deploy/high-availability › contains the settings that prevent the loss of plants or requests', async () => {
  const files = ['etcd', 'patroni.yml', 'haproxy.cfg'].map((file) => readDocument(`deploy/high-availability/${file}`));
  const text = (await Promise.all(files)).join('');
  for (const setting of [
    ...['synchronous_mode: true', 'synchronous_mode_strict: true', 'failsafe_mode: true', 'mode: required'],
    ...['ETCD_AUTO_COMPACTION_RETENTION', 'tcp_keepalives_idle', 'option clitcpka', 'option srvtcpka'],
    'on-marked-down shutdown-sessions',
  ]) {
    assert.ok(text.includes(setting), setting);
  }
});
