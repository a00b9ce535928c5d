/** Texts that the specification leaves open, written once (G85). The specified ones stand where they are shown. */
export const notices = {
  emailForm: "Enter an email address such as you@university.edu",
  creatingAccount: "Creating your account...",
  creatingAccountTitle: "Sign Up",
  tooManySignIns: "Too many attempts. Wait a minute, then try again.",
  accountDisabled: "This account is suspended. Write to us if that is a mistake.",
  signInNoAnswer: "No answer from the sign-in service. Check your connection, then try again.",
  tooManyResets: "An account gets three reset emails an hour. Look into your inbox and spam, or try again later.",
  resetCheckFailed: "The link could not be checked, because the sign-in service did not answer.",
  passwordChanged: "Your new password is set, and every device is signed out.",
  copied: "Copied",
  copyFailed: "The browser did not allow copying. Select the text instead.",
  tryAgain: "Try Again",
  logoutHere: "Log out on this device only",
  noNotifications: "Nothing yet. What happens to your environments and payments is told here.",
  notificationsFailed: "The notifications could not be read.",
  noUsage: "Figures appear here after your first session.",
} as const;
