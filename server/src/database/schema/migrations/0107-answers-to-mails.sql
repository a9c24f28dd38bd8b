-- Answers to received mails, which people send to customers (docs/decisions/0154-answers-to-mails.md). They wait in the outbox like
-- mails to people of the brokerage, where user_id is the person who sends them.

alter table tenants add column answer_template text;

alter table mails
  -- The mail that it answers; null for a mail to a person of the brokerage.
  add column answers_mail_id uuid,
  add column to_name text,
  add column to_address text,
  -- Where the customer's reply goes.
  add column reply_to text[],
  -- The Message-ID of the mail that it answers, without angle brackets.
  add column in_reply_to text,
  add constraint mails_to_customers check ((answers_mail_id is null) = (to_address is null));
create index mails_that_answer on mails (tenant_id, answers_mail_id) where answers_mail_id is not null;

alter table received_mails
  -- When quotes were first made from it.
  add column quoted_at timestamptz,
  -- The first answer: when and by whom it was sent, and whether the draft was sent as it was proposed.
  add column answered_at timestamptz,
  add column answered_by integer,
  add column draft_unchanged boolean;
