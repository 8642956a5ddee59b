/* SPDX-License-Identifier: Apache-2.0 */
/* An empty directory: how to fill it, by framework, and an example that comes with the program. */
import { useEffect, useState } from 'preact/hooks';
import example from '../../../../tests/samples/step_1000/plugins/profile/2026_11_21_13_08_51/trainer-0.xplane.pb?url';
import type { RunList } from '../../data/types';
import { uploadLimits } from '../../data/upload';
import { plural } from '../../model/numbers';
import { sentenceCase } from '../../model/sentence';
import { act } from '../../ui/keys';
import { Code, copyText, SentenceLine } from '../../ui/text';
import { sendFiles } from '../shell/upload';
import { CaptureButton, CaptureRefusal } from './capture';

export const ListNotes = ({ list }: { list: RunList }) => (
  <>
    {list.notes.map((note) => (
      <p key={note.message} class="basis">
        {sentenceCase(note.message)}
      </p>
    ))}
  </>
);

/* The lines to type, each of which writes into the directory that the server looks at. */
const recipes = (directory: string): readonly [string, string][] => [
  ['JAX', `with jax.profiler.trace("${directory}"): ...`],
  [
    'PyTorch',
    `with torch.profiler.profile(on_trace_ready=torch.profiler.tensorboard_trace_handler("${directory}")): ...`,
  ],
  [
    'Nsight Systems',
    `nsys profile -o ${directory}/run python train.py && nsys export --type sqlite ${directory}/run.nsys-rep`,
  ],
];

const Recipes = ({ directory }: { directory: string }) => (
  <dl class="recipes">
    {recipes(directory).map(([framework, line]) => (
      <>
        <dt>{framework}</dt>
        <dd>
          <Code text={line} />{' '}
          <button class="framed" aria-label={`Copy the line for ${framework}`} onClick={() => void copyText(line)}>
            Copy
          </button>
        </dd>
      </>
    ))}
  </dl>
);

async function openExample(): Promise<void> {
  const reply = await fetch(example);
  await sendFiles([{ file: new File([await reply.blob()], 'example.xplane.pb'), folder: null, path: '' }]);
}

/* A server that takes no files shows no example. */
function Example() {
  const [allowed, allow] = useState(false);
  useEffect(() => void uploadLimits().then((limits) => allow(limits.allowed)), []);
  if (!allowed) return null;
  return (
    <p class="state">
      To see what a profile looks like:{' '}
      <button class="framed" onClick={() => void openExample()}>
        Open an example
      </button>{' '}
      <span class="quiet">five training steps of a small JAX model on a CPU</span>
    </p>
  );
}

export function NoRuns({ list }: { list: RunList }) {
  const { scan } = list;
  const looked = plural(scan.directories, 'directory', 'directories');
  const idle = scan.state === 'idle';
  return (
    <>
      <SentenceLine
        sentence={
          idle ? [`No profiles ${scan.directory ? `below ${scan.directory}` : 'here'} yet.`] : ['Looking for profiles.']
        }
      />
      <p class="basis">{idle ? `${looked} looked at; new profiles appear by themselves.` : `${looked} so far.`}</p>
      <ListNotes list={list} />
      <p class="state">To record one, type one of these:</p>
      <Recipes directory={scan.directory ?? 'runs/profiles'} />
      <Example />
      <p class="state">
        To open one of this computer, drop it here:{' '}
        <button class="framed" onClick={() => act('open-file')}>
          Open a file…
        </button>
      </p>
      <p class="state">
        <CaptureButton />
        <CaptureRefusal />
      </p>
    </>
  );
}
