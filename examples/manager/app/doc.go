// Package app is the manager: it shows how a program embeds the controllers of
// podwright. Run starts one in the calling process, as tests do; Main is the
// whole command, with flags, logging and signals.
//
// The order of things is that of OpenKruise 1.4: certificates and the
// registration of the webhooks come first, within 20 seconds; controllers start
// when the webhook server answers, and in one replica only. At the end it is the
// other way round: the controllers finish their passes, then the Lease is
// released, then the servers stop.
//
// # Differences
//
// From the manager of OpenKruise 1.4, whose flags are all accepted:
//   - leadership is held by the Lease alone, not by a ConfigMap as well. The Lease
//     has the same name, so the two do not work at the same time.
//   - a controller whose CRD is missing starts as soon as the CRD is installed;
//     no restart is needed.
//   - missing webhook configurations are created, with what is served.
//   - certificates of a Secret are not written to a folder; the server takes
//     them from memory.
//   - profiles are not served unless asked for.
//   - requests to the API server are not limited by the client.
package app
