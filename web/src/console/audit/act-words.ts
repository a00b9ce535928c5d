/** What an operator did, in words; the code stands beside it, as in the command line and the log. */
const words: Readonly<Record<string, string>> = {
  "announcement.send": "Sent an announcement",
  "credit.grant": "Granted a credit",
  "credit.revoke": "Took a credit back",
  "environment.stop": "Stopped an environment",
  "environment.terminate": "Ended an environment",
  "gpu.quarantine": "Quarantined a GPU",
  "gpu.release": "Released a GPU",
  "host.add": "Added a host",
  "host.drain": "Stopped new rentals on a host",
  "host.lose": "Gave up a host",
  "host.move": "Began to move the files of a host away",
  "host.remove": "Removed a host",
  "host.stop_moving": "Stopped moving the files of a host",
  "host.undrain": "Put a host back in service",
  "mining.dismiss": "Dismissed a finding of the mining detector",
  "operator.add": "Added an operator",
  "operator.remove": "Removed an operator",
  "operator.reset": "Reset the sign-in of an operator",
  "operator.set_up": "Set up the sign-in to the console",
  "order.resend": "Sent a receipt again",
  "refund.decline": "Declined a refund",
  "refund.grant": "Granted a refund",
  "ticket.answer": "Answered a ticket",
  "ticket.close": "Closed a ticket",
  "user.delete": "Deleted an account",
  "user.export": "Exported an account",
  "user.lift": "Lifted a suspension",
  "user.suspend": "Suspended an account",
  "user.warn": "Warned an account",
  "voucher.create": "Made voucher codes",
  "voucher.revoke": "Revoked voucher codes",
};

export function actWords(act: string): string | undefined {
  return words[act];
}
