/* SPDX-License-Identifier: Apache-2.0 */
/* What was dropped: files, and folders with what lies in them.
 *
 *   step_7/plugins/profile/09_30/a.xplane.pb  ->  {folder: "step_7", path: "plugins/profile/09_30/a.xplane.pb"}
 *   a.xplane.pb                               ->  {folder: null}
 */
export interface Dropped {
  file: File;
  folder: string | null;
  path: string; // below the folder
}

const FILES_MAX = 500;
const DEPTH_MAX = 16;

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/* A reader tells a hundred names a time, until it tells none. */
async function namesIn(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const names: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return names;
    names.push(...some);
  }
}

async function walk(
  entry: FileSystemEntry,
  folder: string,
  above: string,
  depth: number,
  found: Dropped[],
): Promise<void> {
  const path = `${above}${entry.name}`;
  if (found.length > FILES_MAX || entry.name.startsWith('.') || depth > DEPTH_MAX) return;
  if (entry.isFile) found.push({ file: await fileOf(entry as FileSystemFileEntry), folder, path });
  else
    for (const one of await namesIn(entry as FileSystemDirectoryEntry))
      await walk(one, folder, `${path}/`, depth + 1, found);
}

/* Entries must be taken while the event lasts; what lies in them comes later. */
export function droppedIn(data: DataTransfer): Promise<Dropped[]> {
  const entries = [...data.items].flatMap((item) =>
    item.kind === 'file' ? [{ entry: item.webkitGetAsEntry(), file: item.getAsFile() }] : [],
  );
  return (async () => {
    const found: Dropped[] = [];
    for (const { entry, file } of entries) {
      if (entry?.isDirectory)
        for (const one of await namesIn(entry as FileSystemDirectoryEntry)) await walk(one, entry.name, '', 1, found);
      else if (file) found.push({ file, folder: null, path: '' });
    }
    if (found.length > FILES_MAX) throw new Error(`There are more than ${FILES_MAX} files in it; drop a single run.`);
    return found;
  })();
}

/* A name that no run has: NAME, NAME-2, ... */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let at = 1; ; at++) {
    const tried = at === 1 ? name : `${name}-${at}`;
    if (!taken.has(tried)) return tried;
  }
}
