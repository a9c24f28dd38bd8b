import { pagePaths } from '#contract/pages.ts'
import { useAddress } from '../shared-ui/index.ts'
import { CustomerPage } from './customer.tsx'
import { CustomersList } from './customers-list.tsx'

/** The customer that the address names, or else the list of all. A name may contain any character, so it is no part of the path. */
export default function CustomersPage() {
  const { search } = useAddress(pagePaths.customers)
  const name = search.name?.trim() ?? ''
  return name === '' ? <CustomersList /> : <CustomerPage key={name} name={name} />
}
