import { createSecretKey, hash, type KeyObject } from "node:crypto";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import ssh2, { type AuthContext, type Connection, type ServerConfig } from "ssh2";
import { isSignedBySecurityKey, securityKeyTypes } from "./security-key.ts";

/** Whoever has proved to hold a key. */
export interface KeyHolder {
  readonly userId: string;
  readonly keyId: string;
  readonly fingerprint: string;
}

/** The answer to a channel: one of the two, once. */
export interface Answer {
  accept(): Duplex;
  /** One sentence, which ssh prints. */
  refuse(text: string): void;
}

/** What happens on one connection. */
export interface Conversation {
  /** It is encrypted. */
  onHandshake(): void;
  /** Somebody has signed with a key; returns whose it is, if anybody's. */
  onSigned(fingerprint: string): Promise<KeyHolder | undefined>;
  onSignIn(holder: KeyHolder): void;
  /** A channel to a place, as `ssh -J` asks for it. */
  onChannel(holder: KeyHolder, host: string, port: number, answer: Answer): void;
}

const plainTypes: ReadonlySet<string> = new Set([
  ...["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"],
]);
const noShell = "This is a jump host without a shell: connect to an environment through it";
/** Questions and wrong tries on one connection. */
const mostQuestions = 40;
const mostWrong = 8;

/**
 * The only file that knows ssh2 (G405). Serves `direct-tcpip` channels to whoever signs with a known key; shells, commands, files
 * and forwarded ports are refused. The SSH inside such a channel is between client and environment alone.
 */
export function createJumpHost(hostKey: string): (socket: Socket, conversation: Conversation) => void {
  const conversations = new WeakMap<Socket, Conversation>();
  const options = {
    ...{ hostKeys: [hostKey], ident: "Berth", keepaliveInterval: 30_000, keepaliveCountMax: 4 },
    algorithms: {
      kex: ["curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "diffie-hellman-group16-sha512"],
      // A client's order decides: OpenSSH before 10 would take AES-CTR, with a slower HMAC (G429).
      cipher: ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"],
      hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"],
      compress: ["none"],
    } as const,
  };
  const server = new ssh2.Server(options as unknown as ServerConfig, (client) => {
    const { _sock: socket } = client as unknown as Inside;
    const conversation = conversations.get(socket);
    // The socket's end is noticed by whoever opened it.
    client.on("error", () => socket.destroy());
    if (conversation) converse(client, socket, conversation);
    else socket.destroy();
  });
  return (socket, conversation) => {
    conversations.set(socket, conversation);
    server.injectSocket(socket);
  };
}

/** What ssh2 does not offer: the socket of a connection, the text of a refusal, and the keys of its ciphers. */
interface Inside {
  readonly _sock: Socket;
  readonly _protocol: {
    readonly _cipher: { _encKey: Buffer | KeyObject };
    readonly _decipher: { _decipherKey: Buffer | KeyObject };
    channelOpenFail(channel: number, reason: number, text: string): void;
  };
}

function converse(client: Connection, socket: Socket, conversation: Conversation): void {
  const { _protocol: protocol } = client as unknown as Inside;
  const fail = protocol.channelOpenFail.bind(protocol);
  let text = noShell;
  protocol.channelOpenFail = (channel, reason) => fail(channel, reason, text);
  let holder: KeyHolder | undefined;
  const left = { questions: mostQuestions, wrong: mostWrong };
  client.once("handshake", () => conversation.onHandshake());
  // At each exchange of keys too.
  client.on("handshake", () => prepareKeys(protocol));
  client.on("authentication", async (context) => {
    const verdict = await judge(context, conversation).catch(() => "wrong" as const);
    if (verdict === "wrong" ? --left.wrong <= 0 : --left.questions <= 0) return void socket.destroy();
    if (typeof verdict === "object") holder = verdict;
    if (verdict === "wrong" || verdict === "none") context.reject(["publickey"]);
    else context.accept();
  });
  client.on("ready", () => holder && conversation.onSignIn(holder));
  client.on("tcpip", (accept, reject, { destIP, destPort }) => {
    const refuse = (why: string) => {
      text = why;
      reject();
      text = noShell;
    };
    if (holder)
      conversation.onChannel(holder, destIP, destPort, { accept: () => writeAtOnce(accept(), socket), refuse });
    else refuse(noShell);
  });
}

/** ssh2 makes a cipher for each packet, which from plain bytes costs Node as much as to encrypt 32 KiB. */
function prepareKeys({ _cipher: cipher, _decipher: decipher }: Inside["_protocol"]): void {
  if (Buffer.isBuffer(cipher._encKey)) cipher._encKey = createSecretKey(cipher._encKey);
  if (Buffer.isBuffer(decipher._decipherKey)) decipher._decipherKey = createSecretKey(decipher._decipherKey);
}

/** ssh2 writes each packet in two or three pieces, without a delay: a system call each, and a small segment. */
function writeAtOnce(channel: Duplex, socket: Socket): Duplex {
  const write = channel._write.bind(channel);
  channel._write = (...args) => {
    socket.cork();
    try {
      write(...args);
    } finally {
      socket.uncork();
    }
  };
  return channel;
}

/**
 * The question whether a key would do is answered alike for every key, so that nobody learns which keys are known. `none`
 * asks for the methods.
 */
async function judge(
  context: AuthContext,
  conversation: Conversation,
): Promise<KeyHolder | "question" | "none" | "wrong"> {
  if (context.method === "none") return "none";
  if (context.method !== "publickey") return "wrong";
  const { key, signature, blob, hashAlgo } = context;
  const isPlain = plainTypes.has(key.algo);
  // Without another hash a signature of RSA has SHA-1.
  if ((!isPlain && !securityKeyTypes.has(key.algo)) || (key.algo === "ssh-rsa" && !hashAlgo)) return "wrong";
  if (!signature || !blob) return "question";
  const isSigned = isPlain
    ? isSignedByPlainKey(`${key.algo} ${key.data.toString("base64")}`, blob, signature, hashAlgo)
    : isSignedBySecurityKey(key.data, signature, blob);
  if (!isSigned) return "wrong";
  const fingerprint = `SHA256:${hash("sha256", key.data, "base64").replace("=", "")}`;
  return (await conversation.onSigned(fingerprint)) ?? "wrong";
}

function isSignedByPlainKey(line: string, data: Buffer, signature: Buffer, hashAlgo: string | undefined): boolean {
  const key = ssh2.utils.parseKey(line);
  return !(key instanceof Error) && key.verify(data, signature, hashAlgo) === true;
}
