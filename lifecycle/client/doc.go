// SPDX-License-Identifier: Apache-2.0

// Package client reads and writes the lifecycle kinds of podwright: typed
// clients, shared informers and listers, in the shape of client-go's own.
//
// Objects travel as JSON, whatever content type the configuration asks for.
// The API server serves custom resources in no other format that all
// versions share. The package fake holds a client without a server, for tests.
package client
