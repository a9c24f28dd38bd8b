/**
 * The tools that AI agents use through the Model Context Protocol. Each tool is an operation of the HTTP interface.
 */
export { type AskService, agentReads, agentServer } from './tools.ts'
