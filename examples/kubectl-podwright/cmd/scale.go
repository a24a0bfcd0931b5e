// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/autoscale"
	"k8s.io/kubectl/pkg/cmd/expose"
	"k8s.io/kubectl/pkg/cmd/scale"
	"k8s.io/kubectl/pkg/util/templates"
)

// scalable are the kinds with a scale subresource, as completion offers them.
var scalable = []string{"cloneset", "statefulset.apps.kruise.io", "uniteddeployment", "deployment", "replicaset", "statefulset", "replicationcontroller"}

// scale is kubectl's command. It works on whatever has a scale subresource. (KC-10)
func (c *commands) scale() *cobra.Command {
	cmd := scale.NewCmdScale(c.factory, c.IOStreams)
	cmd.Short = "Set a new size for a workload"
	cmd.Long += "\n\n" + templates.LongDesc(`It works on every kind with a scale subresource: clonesets, statefulsets.apps.kruise.io and uniteddeployments too.`)
	return c.knows(cmd, `
		# Scale a cloneset to 3 pods
		kubectl scale --replicas=3 cloneset/web

		# Scale an advanced statefulset, if it has 2 replicas now
		kubectl scale --current-replicas=2 --replicas=3 asts/db`, scalable...)
}

// autoscale is kubectl's command, for whatever has a scale subresource. (KC-13)
func (c *commands) autoscale() *cobra.Command {
	cmd := autoscale.NewCmdAutoscale(c.factory, c.IOStreams)
	cmd.Short = "Auto-scale a workload"
	cmd.Long += "\n\n" + templates.LongDesc(`It works on every kind with a scale subresource: clonesets, statefulsets.apps.kruise.io and uniteddeployments too.`)
	return c.knows(cmd, `
		# Have a cloneset scaled between 2 and 10 pods, for 80% of the CPU that they request
		kubectl autoscale cloneset/web --min=2 --max=10 --cpu=80%`, scalable...)
}

// expose is kubectl's command, for CloneSets too. (KC-12)
func (c *commands) expose() *cobra.Command {
	cmd := expose.NewCmdExposeService(c.factory, c.IOStreams)
	cmd.Short = "Expose a workload, service or pod as a new Kubernetes service"
	cmd.Long += "\n\n" + templates.LongDesc(`It takes clonesets too, whose selector must be one of labels alone.`)
	return c.knows(cmd, `
		# Create a service for the pods of a cloneset, which serves on port 80 and connects to port 8000 of the containers
		kubectl expose cloneset/web --port=80 --target-port=8000`, "cloneset", "pod", "service", "replicationcontroller", "deployment", "replicaset")
}
