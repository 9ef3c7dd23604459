import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ComponentType, createElement, useEffect, useLayoutEffect } from 'react'
import type { Container } from 'react-dom/client'
import { later } from './later'

/** place is as much of a document as React takes to draw text: what is drawn is in its texts. */
function place() {
  const texts: { nodeValue: string }[] = []
  const nothing = () => {}
  const document = {
    nodeType: 9,
    addEventListener: nothing,
    createTextNode: (nodeValue: string) => ({ nodeType: 3, nodeValue }),
  }
  const add = (text: { nodeValue: string }) => texts.push(text)
  const remove = (text: { nodeValue: string }) => texts.splice(texts.indexOf(text), 1)
  const root = {
    ...{ nodeType: 1, nodeName: 'DIV', tagName: 'DIV', namespaceURI: 'http://www.w3.org/1999/xhtml' },
    ...{ ownerDocument: document, addEventListener: nothing },
    ...{ appendChild: add, insertBefore: add, removeChild: remove },
  }
  return { root: root as unknown as Container, shown: () => texts.map((text) => text.nodeValue).join('') }
}

/** Coming is code that comes when the test says so, at once and not in a later turn. */
function coming() {
  type Module = { default: ComponentType<object> }
  let come: () => void = () => assert.fail('nothing has asked for the code')
  const then = (take: (module: Module) => void) =>
    new Promise<void>((done) => {
      come = () => {
        take({ default: () => 'the page' })
        done()
      }
    })
  return { load: () => ({ then }) as unknown as Promise<Module>, come: () => come() }
}

/** drawn shows a part whose code comes when its substitute is drawn, or thereafter, and returns what is shown in the end. */
async function drawn(when: 'between' | 'after'): Promise<string> {
  Object.assign(globalThis, { window: { HTMLIFrameElement: class {} } })
  const { createRoot } = await import('react-dom/client')
  const { flushSync } = await import('react-dom')
  const { load, come } = coming()
  const Part = later(load, 'the substitute')
  const { root, shown } = place()
  const steps: string[] = []
  function Beside() {
    useLayoutEffect(() => {
      steps.push(shown())
      if (when === 'between') {
        come()
      }
    }, [])
    useEffect(() => void steps.push('effects'), [])
    return null
  }
  void Part.prepare()
  const page = createRoot(root)
  flushSync(() => page.render([createElement(Part, { key: 'part' }), createElement(Beside, { key: 'beside' })]))
  await new Promise((effects) => setTimeout(effects))
  if (when === 'after') {
    come()
  }
  for (let turns = 0; turns < 100 && shown() !== 'the page'; turns++) {
    await new Promise((turn) => setImmediate(turn))
  }
  assert.deepEqual(steps, ['the substitute', 'effects'])
  const last = shown()
  page.unmount()
  return last
}

test('code that comes after the substitute is drawn, and before its effects, is shown', async () => {
  assert.equal(await drawn('between'), 'the page')
})

test('code that comes later is shown', async () => {
  assert.equal(await drawn('after'), 'the page')
})
