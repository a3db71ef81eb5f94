// A private CA and a server certificate of it for localhost, made for one test.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const openssl = (folder, ...args) => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Writes NAME-ca.pem into FOLDER and gives its path. */
export function makeAuthority(folder, name = 'private') {
  openssl(folder, 'req', '-x509', ...NEW_KEY, '-keyout', `${name}-ca.key`, '-out', `${name}-ca.pem`,
    '-days', '30', '-subj', `/CN=${name} test CA`, '-addext', 'keyUsage=critical,keyCertSign');
  return path.join(folder, `${name}-ca.pem`);
}

/** {caFile, certificate, key} for a server at localhost. */
export function makeCertificates(folder) {
  const caFile = makeAuthority(folder);
  openssl(folder, 'req', ...NEW_KEY, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  writeFileSync(path.join(folder, 'server.ext'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n');
  openssl(folder, 'x509', '-req', '-in', 'server.csr', '-CA', 'private-ca.pem', '-CAkey', 'private-ca.key',
    '-CAcreateserial', '-days', '30', '-extfile', 'server.ext', '-out', 'server.pem');
  return { caFile, certificate: path.join(folder, 'server.pem'), key: path.join(folder, 'server.key') };
}
