/** Where the language server is: a setting, an interpreter, PATH; must not run anything, nor look inside a workspace. */

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import * as path from "node:path";

/** What decides where the server is found. */
export interface Surroundings {
  /** `lectern.client.server`: a command and its arguments, or nothing. */
  readonly server: readonly string[];
  /** `lectern.client.python`: an interpreter, or the empty string. */
  readonly python: string;
  readonly searchPath: string;
  readonly home: string;
  readonly workspaceFolders: readonly string[];
  readonly platform: NodeJS.Platform;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/** No server was found; the message says what to do. */
export class ServerNotFound extends Error {
  override readonly name = "ServerNotFound";
}

/**
 * The command that starts the language server.
 *
 * @throws ServerNotFound where a setting names nothing that can be run, or nothing is installed.
 */
export function locate(here: Surroundings): Command {
  const [command, ...args] = here.server;
  if (command !== undefined && command !== "") {
    return { command: named(command, "lectern.client.server", here), args };
  }
  if (here.python !== "") {
    const interpreter = named(here.python, "lectern.client.python", here);
    return { command: interpreter, args: ["-P", "-m", "mcp_lectern", "serve"] };
  }
  const installed = search("mcp-lectern", here);
  if (installed !== undefined) {
    return { command: installed, args: ["serve"] };
  }
  throw new ServerNotFound(
    "Lectern cannot find its language server: mcp-lectern is not on PATH. Install it with “pipx install mcp-lectern”" +
      " or “uv tool install mcp-lectern”, or name it in the setting lectern.client.server.",
  );
}

/** A folder for the server to run in: the first that no workspace folder holds, since a workspace must not be imported. */
export function runningFolder(preferred: string, workspaceFolders: readonly string[]): string {
  return isInside(preferred, workspaceFolders) ? path.parse(preferred).root : preferred;
}

function named(command: string, setting: string, here: Surroundings): string {
  const expanded = command.startsWith("~/") ? path.join(here.home, command.slice(2)) : command;
  const isBare = !expanded.includes("/") && !expanded.includes(path.sep);
  const found = isBare ? search(expanded, here) : expanded;
  if (found !== undefined && path.isAbsolute(found) && isExecutable(found)) {
    return found;
  }
  const where = isBare ? "is not on PATH" : "is not an absolute path of a program";
  throw new ServerNotFound(`Lectern cannot start its language server: “${command}” in the setting ${setting} ${where}.`);
}

function search(name: string, here: Surroundings): string | undefined {
  const fileName = here.platform === "win32" && path.extname(name) === "" ? `${name}.exe` : name;
  const folders = [...here.searchPath.split(path.delimiter), path.join(here.home, ".local", "bin")];
  return folders
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, fileName))
    .find((file) => isExecutable(file) && !isInside(file, here.workspaceFolders));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isInside(file: string, folders: readonly string[]): boolean {
  const spellings = [path.resolve(file), real(file)];
  return folders
    .flatMap((folder) => [path.resolve(folder), real(folder)])
    .some((folder) => spellings.some((spelling) => holds(folder, spelling)));
}

function holds(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative === "" || (relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
