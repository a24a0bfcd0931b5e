// SPDX-License-Identifier: Apache-2.0

// Package testbed is what tests of the manager against a real control plane have in common. That is the control plane, a
// manager that is a process of its own, and scenes. A scene is a namespace of one test's own, with a mirror of everything
// that happens in it. So a test waits for what it expects instead of sleeping, and judges every state rather than those
// it happens to see.
//
// A package of tests calls Main in its TestMain:
//
//	func TestMain(m *testing.M) {
//		testbed.Main(m, testbed.Options{}, func(ctx context.Context, b *testbed.Testbed) error {
//			bed = b
//			return nil
//		})
//	}
package testbed
