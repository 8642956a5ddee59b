/* SPDX-License-Identifier: Apache-2.0 */
/* Of what a device did: what a copy moved; of a kernel its launch's shape, what launched it and how long it waited,
 * and the line that measures it again. */
import type { Ps } from '../../data/json';
import type { Reasons, SliceDetails } from '../../data/types';
import { share, size, time, timeExact, toNumber, UNKNOWN } from '../../model/numbers';
import { Link } from '../../ui/link';
import { copyText, Name } from '../../ui/text';

function Shape({ slice }: { slice: SliceDetails }) {
  const { shape } = slice;
  if (!shape) return null;
  return (
    <>
      {shape.grid && (
        <>
          <dt>grid, block</dt>
          <dd>
            {shape.grid} × {shape.block}
          </dd>
        </>
      )}
      {shape.registers !== null && (
        <>
          <dt>registers</dt>
          <dd>{shape.registers} a thread</dd>
        </>
      )}
      {shape.shared_bytes !== null && (
        <>
          <dt>shared</dt>
          <dd>{size(shape.shared_bytes)} a block</dd>
        </>
      )}
      <dt>occupancy</dt>
      <dd>
        {shape.occupancy === null ? (
          <span class="faint">{shape.reasons?.occupancy}</span>
        ) : (
          `${share(shape.occupancy)}${shape.limited_by ? `, limited by ${shape.limited_by}` : ''}`
        )}
      </dd>
      <dt>waves</dt>
      <dd data-tip="how many times its blocks fill the device">
        {shape.waves === null || shape.tail_share === null ? (
          <span class="faint">{shape.reasons?.waves}</span>
        ) : (
          `${shape.waves.toFixed(2)}, ${share(shape.tail_share)} of their places stay empty`
        )}
      </dd>
      <dt>tensor core</dt>
      <dd>
        {shape.tensor_core === null ? (
          <span class="faint">{shape.reasons?.tensor_core}</span>
        ) : (
          `${shape.tensor_core ? 'yes' : 'no'}, ${shape.tensor_core_by}`
        )}
      </dd>
    </>
  );
}

function Launch({ slice }: { slice: SliceDetails }) {
  const { launch } = slice;
  if (!launch) return null;
  return (
    <>
      <dt>launched</dt>
      <dd data-tip={timeExact(launch.latency_ps)}>
        {time(launch.latency_ps)} earlier by{' '}
        <Link to={{ slice: launch.slice }}>
          <Name text={launch.name} />
        </Link>
      </dd>
      <dt>queued</dt>
      <dd data-tip={timeExact(launch.queue_ps)}>
        {toNumber(launch.queue_ps) === 0 ? 'not at all' : time(launch.queue_ps)}
      </dd>
    </>
  );
}

interface Transfer {
  direction: string | null;
  bytes: number | null;
  bytes_per_s: number | null;
  memory: string | null;
  blocking: boolean | null;
  overlapped_ps: Ps | null;
  reasons?: Reasons;
}

const DIRECTIONS: Record<string, string> = {
  h2d: 'host to device',
  d2h: 'device to host',
  d2d: 'within the device',
  p2p: 'device to device',
  host: 'within the host',
};

function Moved({ transfer }: { transfer: Transfer }) {
  const why = (key: string) => <span class="faint">{transfer.reasons?.[key] ?? UNKNOWN}</span>;
  return (
    <>
      <dt>direction</dt>
      <dd>{transfer.direction === null ? why('direction') : (DIRECTIONS[transfer.direction] ?? transfer.direction)}</dd>
      <dt>moved</dt>
      <dd data-tip={transfer.bytes === null ? undefined : `${transfer.bytes} bytes`}>
        {transfer.bytes === null ? why('bytes') : size(transfer.bytes)}
      </dd>
      {transfer.bytes !== null && (
        <>
          <dt>bandwidth</dt>
          <dd>{transfer.bytes_per_s === null ? why('bytes_per_s') : `${size(transfer.bytes_per_s)}/s`}</dd>
        </>
      )}
      <dt>host memory</dt>
      <dd>{transfer.memory ?? why('memory')}</dd>
      {transfer.blocking !== null && (
        <>
          <dt>its call</dt>
          <dd>{transfer.blocking ? 'returns when it is over' : 'returns at once'}</dd>
        </>
      )}
      {transfer.overlapped_ps !== null && (
        <>
          <dt>overlapped</dt>
          <dd data-tip="while the device computed">{time(transfer.overlapped_ps)}</dd>
        </>
      )}
    </>
  );
}

export function KernelFacts({ slice }: { slice: SliceDetails & { transfer?: Transfer | null } }) {
  if (!slice.shape && !slice.launch && !slice.graph && !slice.transfer) return null;
  return (
    <section>
      <h3 class="section">{slice.shape ? 'Kernel' : slice.transfer ? 'Transfer' : 'Launch'}</h3>
      <dl class="pairs">
        {slice.transfer && <Moved transfer={slice.transfer} />}
        <Shape slice={slice} />
        <Launch slice={slice} />
        {slice.graph && (
          <>
            <dt>graph</dt>
            <dd>
              {slice.graph.part === 'whole'
                ? 'all of it: the kernels inside were not recorded'
                : `node ${slice.graph.node ?? '–'} of graph ${slice.graph.id ?? '–'}`}
            </dd>
          </>
        )}
        {slice.shape?.ncu && (
          <>
            <dt>ncu</dt>
            <dd>
              <button
                class="framed"
                data-tip={`${slice.shape.ncu}\nIt counts launches from the start of the capture.`}
                onClick={() => void copyText(slice.shape!.ncu!)}
              >
                Copy the line
              </button>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
