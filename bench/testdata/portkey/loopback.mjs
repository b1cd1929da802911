// The gateway listens on all addresses and has no option for it. Loaded before it, this has it listen on
// the loopback address only.
import net from 'node:net';

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest.filter((a) => typeof a === 'function'));
};
