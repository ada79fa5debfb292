/**
 * Elements made from values. Text is always text: nothing here parses markup.
 *
 * @typedef {import("./types.js").Child} Child
 * @typedef {{ [name: string]: unknown }} Attributes
 */

/**
 * The element of a selector.
 *
 * @template {string} S
 * @template Tags
 * @typedef {S extends keyof Tags ? Tags[S] : S extends `${infer T}.${string}` ? (T extends keyof Tags ? Tags[T] : never) : never} Made
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Returns a new element. Its classes follow the tag: `h("p.small.muted", "text")`. `on…` attributes are listeners, `true`
 * and `false` set or leave out an attribute. A button submits nothing unless its type says so.
 *
 * @template {string} S
 * @param {S} selector
 * @param {...(Attributes | Child)} rest The attributes, if there are any, and the children.
 * @returns {Made<S, HTMLElementTagNameMap>}
 */
export function h(selector, ...rest) {
  const [tag = "", ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (element instanceof HTMLButtonElement) element.type = "button";
  return filled(element, classes, rest);
}

/**
 * Returns a new SVG element.
 *
 * @template {string} S
 * @param {S} selector
 * @param {...(Attributes | Child)} rest
 * @returns {Made<S, SVGElementTagNameMap>}
 */
export function svg(selector, ...rest) {
  const [tag = "", ...classes] = selector.split(".");
  return filled(document.createElementNS(SVG, tag), classes, rest);
}

/**
 * Replaces the children of an element.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/**
 * Returns children as nodes, without the empty ones.
 *
 * @param {Child[]} children
 * @returns {Node[]}
 */
function nodes(children) {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    if (Array.isArray(child)) return nodes(child);
    return [child instanceof Node ? child : document.createTextNode(String(child))];
  });
}

/**
 * @param {any} element
 * @param {string[]} classes
 * @param {(Attributes | Child)[]} rest
 */
function filled(element, classes, rest) {
  if (classes.length > 0) element.classList.add(...classes);
  const [first] = rest;
  const isAttributes = first instanceof Object && !(first instanceof Node) && !Array.isArray(first);
  if (isAttributes) for (const [name, value] of Object.entries(first)) set(element, name, value);
  element.append(...nodes(/** @type {Child[]} */ (isAttributes ? rest.slice(1) : rest)));
  return element;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") {
    element.addEventListener(name.slice(2).toLowerCase(), /** @type {EventListener} */ (value));
  } else if (name === "style" || name.startsWith("on")) {
    throw new TypeError(`an element has no attribute ${name} here`);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the object that a text is as JSON, or null for any other text.
 *
 * @param {string | undefined} text
 */
export function object(text = "") {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Goes to another place of the page, such as `#/agents`. @param {string} hash */
export function go(hash) {
  location.hash = hash;
}
