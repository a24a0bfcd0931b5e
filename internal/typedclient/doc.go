// SPDX-License-Identifier: Apache-2.0

// Package typedclient is the typed client of every kind. It is what reads and writes its
// objects, its informers and listers, and all of that without an API server, for
// tests. A kind adds its Go types and the name of its resource.
package typedclient
