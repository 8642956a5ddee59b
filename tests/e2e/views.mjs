/* SPDX-License-Identifier: Apache-2.0 */
/* The views of the page: name -> letter behind G, "" none. */
import { readFileSync } from 'node:fs';

export const VIEWS = JSON.parse(readFileSync(new URL('../../web/src/model/views.json', import.meta.url), 'utf8'));
