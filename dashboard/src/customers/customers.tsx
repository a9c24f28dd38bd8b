import { pagePaths } from '#contract/pages.ts'
import { useAddress } from '../shared-ui/index.ts'
import { CustomerPage } from './customer.tsx'
import { CustomersList } from './customers-list.tsx'

/**
 * The page of the customer in the address, or else the list of all customers. The name is a query parameter, because it may contain
 * characters that a path cannot.
 */
export default function CustomersPage() {
  const { search } = useAddress(pagePaths.customers)
  const name = search.name?.trim() ?? ''
  return name === '' ? <CustomersList /> : <CustomerPage key={name} name={name} />
}
