// Where saftc is: the setting, the workspace's environment, the Python extension's interpreter, the path.

const fs = require("fs");
const path = require("path");

const FOLDER = process.platform === "win32" ? "Scripts" : "bin";
const NAME = process.platform === "win32" ? "saftc.exe" : "saftc";

// The first that is there, as a command without arguments; `{ configured, folders, interpreter, paths }`
// are the setting, the workspace's folders, the interpreter that is chosen, and the folders of the path.
function findSaftc({ configured, folders, interpreter, paths }, isThere = isFile) {
  if (configured?.length) {
    return configured[0];
  }
  const places = [
    ...folders.flatMap((folder) => [".venv", "venv"].map((name) => path.join(folder, name, FOLDER))),
    ...(interpreter ? [path.dirname(interpreter)] : []),
    ...paths,
  ];
  return places.map((place) => path.join(place, NAME)).find(isThere);
}

function isFile(file) {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

module.exports = { findSaftc };
