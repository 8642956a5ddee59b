/* SPDX-License-Identifier: Apache-2.0 */
/* Steps as bars with their legend: beside them where the bars leave room, else beneath. */
import type { StepRow } from '../data/types';
import { KindLegend, type KindPart } from './kind_legend';
import { barsWidth, StepBars } from './step_bars';

const BARS_BESIDE_MAX = 10;

interface Picture {
  steps: readonly StepRow[];
  medianPs: number | null;
  height: number;
  parts: readonly KindPart[];
  counted: number; // steps in `parts`
}

/* Hosts of a step stand beside each other, in one order. */
function inOrder(steps: readonly StepRow[]): readonly StepRow[] {
  if (new Set(steps.map(({ host }) => host)).size < 2) return steps;
  return [...steps].sort((a, b) => Number(a.step) - Number(b.step) || ((a.host ?? '') < (b.host ?? '') ? -1 : 1));
}

export function StepPicture({ steps: given, medianPs, height, parts, counted }: Picture) {
  const steps = inOrder(given);
  const beneath = steps.length > BARS_BESIDE_MAX;
  return (
    <div class={beneath ? undefined : 'overview-picture'}>
      <div class="overview-bars" style={beneath ? undefined : { flexBasis: `${barsWidth(steps.length)}px` }}>
        {steps.length > 0 && <StepBars steps={steps} medianPs={medianPs} height={height} />}
      </div>
      <KindLegend parts={parts} steps={counted} />
    </div>
  );
}
