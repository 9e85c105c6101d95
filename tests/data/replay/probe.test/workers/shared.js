onconnect = ({ports: [port]}) => {
  port.onmessage = event => port.postMessage(`shared got ${event.data}`);
};
