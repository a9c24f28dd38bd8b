import { Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import {
  type GeoProjection,
  geoAlbers,
  geoConicEqualArea,
  geoDistance,
  geoInterpolate,
  geoPath,
} from 'd3-geo'
import type { FeatureCollection, MultiLineString } from 'geojson'
import { useMemo } from 'react'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import statesUrl from 'us-atlas/states-10m.json?url'
import countriesUrl from 'world-atlas/countries-110m.json?url'
import { builtFile } from '../api/index.ts'
import { count } from '../shared-ui/index.ts'
import type { LaneRecord } from './lane-evidence.ts'

const height = 360
const earthRadiusMiles = 3958.8
/** The minimum width of the map in miles, so that it shows a short haul with its surroundings. */
const widthMilesMin = 420

interface Outlines {
  readonly states: FeatureCollection
  readonly stateBorders: MultiLineString
  readonly otherCountries: FeatureCollection
}

const unitedStates = '840'
/** Lanes longer than this also have an arrow in the middle. */
const middleArrowFromPixels = 110

/** Loads the outlines of states and countries. The files are part of the build, and browsers cache them for a year. */
async function loadOutlines(): Promise<Outlines> {
  const [states, countries] = await Promise.all(
    [statesUrl, countriesUrl].map(async (url) => (await builtFile(url)) as Topology),
  )
  if (states === undefined || countries === undefined) throw new Error('The outlines did not load.')
  const stateShapes = states.objects.states as GeometryCollection
  const countryShapes = countries.objects.countries as GeometryCollection
  return {
    states: feature(states, stateShapes),
    stateBorders: mesh(states, stateShapes, (one, other) => one !== other),
    otherCountries: feature(countries, {
      ...countryShapes,
      geometries: countryShapes.geometries.filter(({ id }) => id !== unitedStates),
    }),
  }
}

type Position = readonly [longitude: number, latitude: number]
type End = LaneRecord['origin']

function positionOf({ latitude, longitude }: End): Position | null {
  return latitude === null || longitude === null ? null : [longitude, latitude]
}

const compass = [
  'north',
  'northeast',
  'east',
  'southeast',
  'south',
  'southwest',
  'west',
  'northwest',
] as const

/** The initial compass direction of a lane. @example headingOf([-96.8, 32.8], [-84.4, 33.7]) // 'east' */
export function headingOf(from: Position, to: Position): (typeof compass)[number] {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const [fromLatitude, toLatitude] = [radians(from[1]), radians(to[1])]
  const turn = radians(to[0] - from[0])
  const bearing = Math.atan2(
    Math.sin(turn) * Math.cos(toLatitude),
    Math.cos(fromLatitude) * Math.sin(toLatitude) -
      Math.sin(fromLatitude) * Math.cos(toLatitude) * Math.cos(turn),
  )
  return compass[Math.round((bearing / (2 * Math.PI)) * 8 + 8) % 8] ?? 'north'
}

function isInLower48([longitude, latitude]: Position): boolean {
  return latitude > 24 && latitude < 49.5 && longitude > -125 && longitude < -66.5
}

/** A conic projection in which the lane fills the map, with space for the names of its ends. */
function projectionFor(from: Position, to: Position, width: number): GeoProjection {
  const middle = geoInterpolate([...from], [...to])(0.5)
  const projection =
    isInLower48(from) && isInLower48(to)
      ? geoAlbers()
      : geoConicEqualArea()
          .parallels([middle[1] - 8, middle[1] + 8])
          .rotate([-middle[0], 0])
  const scaleMax = (width * earthRadiusMiles) / widthMilesMin
  if (geoDistance([...from], [...to]) > 0) {
    const sides = Math.min(90, width * 0.16)
    projection.fitExtent(
      [
        [sides, 50],
        [width - sides, height - 50],
      ],
      { type: 'LineString', coordinates: [[...from], [...to]] },
    )
  }
  if (!(projection.scale() <= scaleMax) || geoDistance([...from], [...to]) === 0) projection.scale(scaleMax)
  projection.translate([0, 0])
  const center = projection(middle) ?? [0, 0]
  projection.translate([width / 2 - center[0], height / 2 - center[1]])
  return projection.clipExtent([
    [-2, -2],
    [width + 2, height + 2],
  ])
}

/** The map of the lane, drawn from outlines that the service provides. */
export function LaneMap({ record }: { record: LaneRecord }) {
  const { ref, width } = useElementSize()
  const outlines = useQuery({
    queryKey: ['outlines'],
    queryFn: loadOutlines,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [from, to] = [positionOf(record.origin), positionOf(record.destination)]
  const unknown = [record.origin, record.destination].filter((end) => positionOf(end) === null)
  return (
    <figure style={{ margin: 0 }}>
      <div
        ref={ref}
        style={{
          height,
          overflow: 'hidden',
          borderRadius: 'var(--mantine-radius-md)',
          background: 'var(--map-water)',
          border: '1px solid var(--line)',
        }}
      >
        {from === null || to === null ? (
          <Text p="md" size="sm" style={{ overflowWrap: 'anywhere' }}>
            No map: the location of {unknown.map(({ place }) => `“${place}”`).join(' and ')} is unknown.
          </Text>
        ) : (
          width > 0 && (
            <Drawing record={record} from={from} to={to} width={width} outlines={outlines.data ?? null} />
          )
        )}
      </div>
      {outlines.isError && from !== null && to !== null && (
        <Text size="xs" component="figcaption">
          The state outlines could not be loaded, so the map shows only the lane.
        </Text>
      )}
    </figure>
  )
}

function Drawing({
  record,
  from,
  to,
  width,
  outlines,
}: {
  record: LaneRecord
  from: Position
  to: Position
  width: number
  outlines: Outlines | null
}) {
  const [fromLongitude, fromLatitude] = from
  const [toLongitude, toLatitude] = to
  const drawn = useMemo(() => {
    const [start, end] = [[fromLongitude, fromLatitude] as const, [toLongitude, toLatitude] as const]
    const projection = projectionFor(start, end, width)
    const path = geoPath(projection)
    const along = geoInterpolate([...start], [...end])
    const at = (share: number) => projection(along(share)) ?? [0, 0]
    return {
      states: outlines === null ? '' : (path(outlines.states) ?? ''),
      borders: outlines === null ? '' : (path(outlines.stateBorders) ?? ''),
      countries: outlines === null ? '' : (path(outlines.otherCountries) ?? ''),
      lane: path({ type: 'LineString', coordinates: [[...start], [...end]] }) ?? '',
      from: at(0),
      to: at(1),
      middle: at(0.5),
      afterMiddle: at(0.52),
      nearEnd: at(0.96),
    }
  }, [fromLongitude, fromLatitude, toLongitude, toLatitude, width, outlines])
  const miles = record.miles === null ? 'miles unknown' : `about ${count(record.miles)} road miles`
  const label = `Map: from ${record.origin.place}, ${headingOf(from, to)} to ${record.destination.place}, ${miles}.`
  const isLongEnough =
    Math.hypot(drawn.to[0] - drawn.from[0], drawn.to[1] - drawn.from[1]) > middleArrowFromPixels
  const isUpward = drawn.to[1] < drawn.from[1]
  return (
    <svg width={width} height={height} role="img" aria-label={label} style={{ display: 'block' }}>
      <path d={drawn.countries} fill="var(--map-elsewhere)" stroke="var(--map-border)" strokeWidth={0.75} />
      <path d={drawn.states} fill="var(--map-land)" />
      <path d={drawn.borders} fill="none" stroke="var(--map-border)" strokeWidth={0.75} />
      <path d={drawn.lane} fill="none" stroke="var(--mantine-color-body)" strokeWidth={6} opacity={0.7} />
      <path d={drawn.lane} fill="none" stroke="var(--chart-accent)" strokeWidth={3} strokeLinecap="round" />
      {isLongEnough && <Arrow from={drawn.middle} towards={drawn.afterMiddle} />}
      <Arrow from={drawn.nearEnd} towards={drawn.to} at={drawn.to} />
      <circle cx={drawn.from[0]} cy={drawn.from[1]} r={6} fill="var(--chart-accent)" />
      <Label end={record.origin} at={drawn.from} above={!isUpward} width={width} />
      <Label end={record.destination} at={drawn.to} above={isUpward} width={width} />
    </svg>
  )
}

/** An arrowhead that points along the lane. With `at`, its tip is at that point. */
function Arrow({
  from,
  towards,
  at,
}: {
  from: readonly number[]
  towards: readonly number[]
  at?: readonly number[]
}) {
  const [x = 0, y = 0] = at ?? from
  const angle = Math.atan2((towards[1] ?? 0) - (from[1] ?? 0), (towards[0] ?? 0) - (from[0] ?? 0))
  return (
    <path
      d={at === undefined ? 'M7,0L-6,-6L-3,0L-6,6z' : 'M2,0L-15,-8L-11,0L-15,8z'}
      transform={`translate(${x},${y}) rotate(${(angle * 180) / Math.PI})`}
      fill="var(--chart-accent)"
      stroke="var(--mantine-color-body)"
      strokeWidth={1}
    />
  )
}

/** The widest place names have about this width per letter, with their outline. */
const letterWidth = 8.2

function Label({
  end,
  at: [x = 0, y = 0],
  above,
  width,
}: {
  end: End
  at: readonly number[]
  above: boolean
  width: number
}) {
  const half = Math.min((end.place.length * letterWidth) / 2 + 4, width / 2)
  return (
    <text
      x={Math.min(Math.max(x, half), width - half)}
      y={above ? y - 14 : y + 24}
      textAnchor="middle"
      fontSize={13}
      fontWeight={600}
      fill="var(--chart-ink)"
      stroke="var(--map-land)"
      strokeWidth={3.5}
      paintOrder="stroke"
    >
      {end.place}
    </text>
  )
}
