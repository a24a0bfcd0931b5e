// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/set"
)

// withPods are the kinds whose pods the set commands change, as completion offers them.
var withPods = append([]string{"broadcastjob", "pod", "replicaset"}, rolledOut...)

// set is kubectl's command, which changes the pod spec of the kinds of podwright too. (KC-9)
func (c *commands) set() *cobra.Command {
	cmd := set.NewCmdSet(c.factory, c.IOStreams)
	examples := map[string]string{
		"image": `
			# Set the images of two containers of a cloneset; whether its pods are updated in place is for its strategy to say
			kubectl set image cloneset/web nginx=nginx:1.29.1 sidecar=envoy:v1.35

			# Set the image of a container that a sidecarset injects
			kubectl set image sidecarset/mesh envoy=envoy:v1.35`,
		"env": `
			# Set an environment variable of all containers of a cloneset
			kubectl set env cloneset/web STORAGE_DIR=/local

			# List the environment of an advanced statefulset
			kubectl set env asts/db --list`,
		"resources": `
			# Set the limits of a container of a cloneset
			kubectl set resources cloneset/web -c=nginx --limits=cpu=200m,memory=512Mi`,
		"serviceaccount": `
			# Set the service account of a cloneset
			kubectl set serviceaccount cloneset/web account1`,
	}
	for _, sub := range cmd.Commands() {
		if example, ok := examples[sub.Name()]; ok {
			c.knows(sub, example, withPods...)
		}
	}
	return cmd
}
