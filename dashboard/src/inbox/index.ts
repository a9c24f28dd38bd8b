/** What waits for the signed-in person: the inbox, and their pending quotes. */
export { InboxPage } from './inbox.tsx'
export { MyDayPage } from './my-day.tsx'
