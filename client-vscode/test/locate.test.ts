/** Where the server is found, and above all where it is not looked for. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { locate, runningFolder, ServerNotFound, type Surroundings } from "../src/locate";

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "lectern-locate-"));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function program(...parts: string[]): string {
  const file = path.join(root, ...parts);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

function surroundings(changes: Partial<Surroundings> = {}): Surroundings {
  return {
    server: [],
    python: "",
    searchPath: "",
    home: path.join(root, "home"),
    workspaceFolders: [path.join(root, "workspace")],
    platform: "linux",
    ...changes,
  };
}

test("the setting for the command comes first, as it is written", () => {
  const command = program("tools", "lectern");
  const python = program("tools", "python");
  assert.deepEqual(locate(surroundings({ server: [command, "serve", "--no-discover"], python })), {
    command,
    args: ["serve", "--no-discover"],
  });
});

test("an interpreter is started so that it does not import the folder it runs in", () => {
  const python = program("env", "bin", "python");
  assert.deepEqual(locate(surroundings({ python })), { command: python, args: ["-P", "-m", "mcp_lectern", "serve"] });
});

test("PATH is searched in order, then the folder of pipx and uv", () => {
  const installed = program("home", ".local", "bin", "mcp-lectern");
  assert.equal(locate(surroundings()).command, installed);
  const onPath = program("second", "mcp-lectern");
  const searchPath = [path.join(root, "first"), path.join(root, "second")].join(path.delimiter);
  assert.deepEqual(locate(surroundings({ searchPath })), { command: onPath, args: ["serve"] });
});

test("SEC-03: no folder inside a workspace is searched, however it is spelled", () => {
  program("workspace", "node_modules", ".bin", "mcp-lectern");
  symlinkSync(path.join(root, "workspace", "node_modules"), path.join(root, "linked"));
  const inside = [
    path.join(root, "workspace", "node_modules", ".bin"),
    path.join(root, "other", "..", "workspace", "node_modules", ".bin"),
    path.join(root, "linked", ".bin"),
    "node_modules/.bin",
    ".",
    "",
  ];
  assert.throws(() => locate(surroundings({ searchPath: inside.join(path.delimiter) })), ServerNotFound);
  const outside = program("workspace-tools", "mcp-lectern");
  const searchPath = [...inside, path.dirname(outside)].join(path.delimiter);
  assert.equal(locate(surroundings({ searchPath })).command, outside);
});

test("SEC-03: a bare name in a setting is searched by the same rule", () => {
  program("workspace", "lectern");
  const server = ["lectern", "serve"];
  assert.throws(() => locate(surroundings({ server, searchPath: path.join(root, "workspace") })), /not on PATH/u);
  const tool = program("tools", "lectern");
  assert.equal(locate(surroundings({ server, searchPath: path.dirname(tool) })).command, tool);
});

test("a setting that names nothing is an error that says so, never a reason to look elsewhere", () => {
  program("tools", "mcp-lectern");
  const searchPath = path.join(root, "tools");
  const missing = path.join(root, "missing");
  assert.throws(() => locate(surroundings({ searchPath, server: [missing] })), /lectern\.client\.server/u);
  assert.throws(() => locate(surroundings({ searchPath, python: missing })), /lectern\.client\.python/u);
  assert.throws(() => locate(surroundings({ searchPath, python: "bin/python" })), /not an absolute path/u);
});

test("a file that cannot be run, and a folder of that name, are passed over", () => {
  writeFileSync(path.join(root, "mcp-lectern"), "");
  mkdirSync(path.join(root, "folder", "mcp-lectern"), { recursive: true });
  const searchPath = [root, path.join(root, "folder")].join(path.delimiter);
  assert.throws(() => locate(surroundings({ searchPath })), /pipx install mcp-lectern/u);
});

test("~ in a setting is the home folder", () => {
  const command = program("home", "tools", "lectern");
  assert.equal(locate(surroundings({ server: ["~/tools/lectern"] })).command, command);
});

test("SEC-03: the server runs in its own folder, unless a workspace holds that", () => {
  const storage = path.join(root, "storage");
  assert.equal(runningFolder(storage, [path.join(root, "workspace")]), storage);
  assert.equal(runningFolder(storage, [root]), path.parse(root).root);
});
