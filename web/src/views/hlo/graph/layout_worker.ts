/* SPDX-License-Identifier: Apache-2.0 */
/* Lays pictures out beside the page, which stays usable meanwhile. */
import type { PictureLevel } from '../../../model/pictures/hlo_picture';
import { place, type Placement } from '../../../model/pictures/hlo_placed';

export interface LayoutAnswer {
  placement?: Placement;
  error?: string;
}

addEventListener('message', (event: MessageEvent<PictureLevel>) => {
  let answer: LayoutAnswer;
  try {
    answer = { placement: place(event.data) };
  } catch (error) {
    answer = { error: String(error) };
  }
  postMessage(answer);
});
