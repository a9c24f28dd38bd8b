import {
  Anchor,
  type CSSVariablesResolver,
  createTheme,
  Drawer,
  type MantineColorsTuple,
  Modal,
} from '@mantine/core'

const lane: MantineColorsTuple = [
  '#e6f7f8',
  '#cdeef0',
  '#9ddde2',
  '#6bccd3',
  '#45bec7',
  '#2db0ba',
  '#1c8f99',
  '#117581',
  '#0c5f69',
  '#084850',
]

export const theme = createTheme({
  colors: { lane },
  primaryColor: 'lane',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  headings: { fontWeight: '650' },
  components: {
    // Links are underlined, so that color is not the only difference from the text around them.
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    // The header of a dialog must not be another banner landmark.
    ModalHeader: Modal.Header.extend({ defaultProps: { role: 'presentation' } }),
    DrawerHeader: Drawer.Header.extend({ defaultProps: { role: 'presentation' } }),
  },
})

/** Text colors with the contrast that WCAG requires (4.5 to 1). Mantine's own gray, red and green are below it. */
export const readableColors: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#495057',
    '--mantine-color-placeholder': '#5f676e',
    '--mantine-color-error': '#b42318',
    '--mantine-color-red-outline': '#b42318',
    '--mantine-color-green-outline': '#1c7a43',
    '--mantine-color-anchor': '#0c5f69',
  },
  dark: {
    '--mantine-color-dimmed': '#b8b8b8',
    '--mantine-color-placeholder': '#a3a3a3',
    '--mantine-color-error': '#ff9d92',
    '--mantine-color-red-outline': '#ff9d92',
    '--mantine-color-green-outline': '#6fd39a',
    '--mantine-color-anchor': '#6bccd3',
  },
})
