// SPDX-License-Identifier: Apache-2.0

// Package deployments asks the controller of Kubernetes' own Deployments what the condition Progressing says, moment by moment,
// in the stories that CloneSets are held to. It holds only tests.
package deployments
