// The server's JSON.

/** What the server answers; an Error with its line when it refuses. */
async function ask(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is gyro serve still running?");
  }
  let value;
  try {
    value = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(`The server answered with status ${response.status} and no JSON.`);
  }
  if (!response.ok) throw new Error(value.error ?? `The server answered with status ${response.status}.`);
  return value;
}

function post(address, value, signal) {
  const headers = { "Content-Type": "application/json" };
  return ask(address, { method: "POST", headers, body: JSON.stringify(value), signal });
}

export const about = () => ask("/about", {});
export const openapi = () => ask("/openapi.json", {});
export const order = (request, signal) => post("/order", request, signal);
export const lattice = (orders) => post("/lattice", { orders });
export const tokenize = async (text) => (await post("/tokenize", { text })).tokens;
