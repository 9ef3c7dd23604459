import { sluice } from '../aws/sluice'

/** Explained is a decision with its reasons, as ExplainAccess has it. */
export interface Explained {
  Decision: 'allowed' | 'implicitDeny' | 'explicitDeny'
  By: string
  Message?: string
  Rule?: string
  Statements: {
    Source: string
    Policy?: string
    Line: number
    Sid?: string
    Effect: string
    Applies: boolean
    Decided: boolean
    Element?: string
    Reason: string
  }[]
  MoreStatements?: number
  MissingContextKeys: string[]
  Assumed?: string
  Remedy?: { Text: string; Statement?: string }
}

interface Asked {
  QueueUrl: string
  Principal: string
  Action: string
  Context: { Key: string; Values: string[] }[]
}

/** explainAccess reports whether a principal may take an action on a queue, and why. */
export const explainAccess = (asked: Asked) => sluice<Explained>('ExplainAccess', asked)
