/** The order of the settings on docs/configuration.md and in .env.example. Every setting is in exactly one group. */
export const settingGroups: readonly { readonly title: string; readonly names: string }[] = [
  { title: "Addresses", names: "PORT HOST APP_URL ENV_HOST TRUST_PROXY" },
  { title: "Storage", names: "DATA_DIR RUNTIMES_DIR DATABASE_URL DATABASE_LISTEN_URL BACKUP" },
  { title: "Processes", names: "ROLES DRAIN_SECONDS METRICS_PORT METRICS_HOST LOG_LEVEL" },
  {
    title: "Environments",
    names:
      "RUNTIME DOCKER_HOST DOCKER_REACH SSH_AUTH_SOCK WARM_POOL SLOTS PROCESS_NETWORK UNSAFE_PUBLIC_PROCESS_DRIVER",
  },
  {
    title: "Operator's console",
    names: "OPERATOR_PORT OPERATOR_HOST OPERATOR_URL OPERATOR_SECOND_FACTOR",
  },
  { title: "Payments", names: "PAYMENTS RAZORPAY_KEY_ID RAZORPAY_KEY_SECRET RAZORPAY_WEBHOOK_SECRET" },
  { title: "Tax", names: "TAX_GSTIN TAX_LEGAL_NAME TAX_ADDRESS TAX_LUT" },
  { title: "Sign-in", names: "IDENTITY IDENTITY_SECRET" },
  { title: "Mail", names: "SMTP_URL MAIL_FROM" },
  {
    title: "Name and support",
    names:
      "BRAND_NAME CONTACT_EMAIL SUPPORT_NAME SUPPORT_TELEGRAM SUPPORT_TELEGRAM_KIND SUPPORT_CODE_PREFIX SUPPORT_ONLINE SUPPORT_RESPONSE_TIME BETA_STARTS_AT",
  },
  {
    title: "Limits",
    names:
      "RETENTION_DAYS MINING CATALOGUE GPUS_PER_USER LAUNCHES_PER_USER ORDERS_PER_MINUTE NEWCOMER_SHARE REQUESTS_PER_MINUTE ANONYMOUS_PER_MINUTE UNAUTHENTICATED_PER_MINUTE SIGN_INS_PER_MINUTE RESET_MAILS_PER_HOUR NETWORK_MAILS_PER_HOUR NETWORK_MAILS_PER_DAY DOMAIN_MAILS_PER_DAY",
  },
  { title: "For tests only", names: "FAKE_DRIVER GIVE_UP_AFTER RAZORPAY_URL" },
];
