// SPDX-License-Identifier: Apache-2.0

// Package patches changes objects of tests as scripts say it: by patches in YAML, or by words that stand for them. It needs no
// cluster and no client, so that the tests of pure packages use it, too.
package patches
