// Preloaded into a Node server under test: it listens on 127.0.0.1 alone, and says where on stderr.
const net = require("node:net");
const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (port, ...rest) {
  if (typeof port === "object" || port === undefined) return listen.call(this, port, ...rest);
  this.once("listening", () => console.error(`LISTENING ${this.address().port}`));
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...rest.filter((one) => typeof one === "function"));
};
