import { Button, Stack, Textarea } from '@mantine/core'
import { answerTemplateLengthMax } from '#contract/limits.ts'
import { useChange, useSession } from '../api/index.ts'
import { Section, useSentForm, usualTemplate } from '../shared-ui/index.ts'

/** The template of answers to mails. For admins. */
export function AnswerSettings() {
  const { tenant } = useSession()
  const { submit, input, pending, failure } = useSentForm(useChange('update-tenant'), {
    fields: { answer_template: tenant.answer_template ?? usualTemplate },
    send: ({ answer_template: typed }) => ({
      body: { answer_template: typed.trim() === usualTemplate ? '' : typed },
    }),
    said: 'The template is saved.',
  })
  return (
    <Section
      title="Answers to mails"
      hint="The draft of an answer. {quotes} becomes the quotes, {name} the sender's name, {rep} the name of the person who answers, {brokerage} your name."
    >
      <form onSubmit={submit} aria-label="Template of answers">
        <Stack maw={720}>
          <Textarea
            label="Template"
            autosize
            minRows={5}
            maxRows={20}
            maxLength={answerTemplateLengthMax}
            {...input('answer_template')}
          />
          {failure('The template was not saved')}
          <Button type="submit" loading={pending} style={{ alignSelf: 'flex-start' }}>
            Save the template
          </Button>
        </Stack>
      </form>
    </Section>
  )
}
