/* SPDX-License-Identifier: Apache-2.0 */
// profiler_server.mjs CASE FILE: speaks gRPC as a profiler server does, and misbehaves as CASE says. Prints its port.
import { createServer } from 'node:http2';
import { readFileSync } from 'node:fs';

const [kind, file] = process.argv.slice(2);

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

function framed(message, length = message.length) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

const space = readFileSync(file);
const whole = Buffer.concat([varint((8 << 3) | 2), varint(space.length), space]);

function trailers(stream, fields) {
  stream.on('wantTrailers', () => stream.sendTrailers(fields));
}

const answers = {
  good: (stream) => {
    trailers(stream, { 'grpc-status': '0' });
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    const bytes = framed(whole);
    for (let at = 0; at < bytes.length; at += 100_001) stream.write(bytes.subarray(at, at + 100_001));
    stream.end();
  },
  empty: (stream) => {
    trailers(stream, { 'grpc-status': '0' });
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.end(framed(Buffer.from([7 << 3, 1])));
  },
  cut: (stream) => {
    stream.respond({ ':status': 200 });
    stream.write(framed(whole.subarray(0, whole.length >> 1), whole.length), () =>
      setTimeout(() => stream.session.destroy(), 200),
    );
  },
  long: (stream) => {
    trailers(stream, { 'grpc-status': '0' });
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.end(framed(whole, 100));
  },
  compressed: (stream) => {
    stream.respond({ ':status': 200 });
    stream.end(Buffer.concat([Buffer.from([1, 0, 0, 0, 1]), Buffer.from('x')]));
  },
  busy: (stream) =>
    stream.respond(
      { ':status': 200, 'grpc-status': '13', 'grpc-message': 'Another profiling session active.' },
      { endStream: true },
    ),
  absent: (stream) => stream.respond({ ':status': 200, 'grpc-status': '12', 'grpc-message': '' }, { endStream: true }),
  refuses: (stream) =>
    stream.respond({ ':status': 200, 'grpc-status': '7', 'grpc-message': 'not %41llowed%0a <b>' }, { endStream: true }),
  page: (stream) => {
    stream.respond({ ':status': 404, 'content-type': 'text/html' });
    stream.end('<h1>no</h1>');
  },
  silent: () => {},
};

const server = createServer();
server.on('session', (session) => session.on('error', () => {}));
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  const asked = [];
  stream.on('data', (piece) => asked.push(piece));
  stream.on('end', () => {
    console.log(
      JSON.stringify({
        path: headers[':path'],
        type: headers['content-type'],
        te: headers.te,
        body: Buffer.concat(asked).toString('hex'),
      }),
    );
    answers[kind](stream);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
