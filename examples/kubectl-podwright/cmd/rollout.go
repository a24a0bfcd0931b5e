// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/rollout"
	"k8s.io/kubectl/pkg/util/templates"
)

// rolledOut are the kinds that have rollouts, as completion offers them.
var rolledOut = []string{"cloneset", "statefulset.apps.kruise.io", "daemonset.apps.kruise.io", "uniteddeployment", "sidecarset", "deployment", "statefulset", "daemonset"}

// rollout is the command of kubectl, with the functions of our own package rollout. (KC-4 to KC-8)
func (c *commands) rollout() *cobra.Command {
	cmd := rollout.NewCmdRollout("kubectl", c.factory, c.IOStreams) // apply, which undo speaks of, is its command
	cmd.Long = templates.LongDesc(`
		Manage the rollout of one or many resources.

		Status, history, undo and restart know clonesets, statefulsets.apps.kruise.io (asts), daemonsets.apps.kruise.io (ads)
		and uniteddeployments; pause and resume the first three; all but restart sidecarsets; and all of them what kubectl knows.`)
	examples := map[string]string{
		"": `
			# Wait until a cloneset is rolled out
			kubectl rollout status cloneset/web`,
		"status": `
			# Watch the rollout of a cloneset, for ten minutes at most
			kubectl rollout status cloneset/web --timeout=10m

			# Watch revision 3 of an advanced statefulset, and fail where the template changes meanwhile
			kubectl rollout status asts/db --revision=3

			# Watch the rollout of a sidecarset, of a manager that rounds partitions as OpenKruise 1.9 does
			kubectl rollout status sidecarset/mesh --release=1.9`,
		"history": `
			# View the rollout history of a cloneset
			kubectl rollout history cloneset/web

			# View the pod template of revision 3
			kubectl rollout history cloneset/web --revision=3`,
		"undo": `
			# Roll back to the pod template before this one
			kubectl rollout undo cloneset/web

			# Roll an advanced daemonset back to revision 3
			kubectl rollout undo ads/agent --to-revision=3

			# Inject the sidecars again that a sidecarset had before; pods are updated by its update strategy
			kubectl rollout undo sidecarset/mesh`,
		"restart": `
			# Recreate the pods of a cloneset, at the pace of its update strategy. With an in-place update strategy
			# pods only get an annotation, and no container restarts
			kubectl rollout restart cloneset/web`,
		"pause": `
			# Let no further pod of a cloneset be updated
			kubectl rollout pause cloneset/web`,
		"resume": `
			# Let the update of a cloneset go on
			kubectl rollout resume cloneset/web`,
	}
	for _, sub := range cmd.Commands() {
		if sub.Name() == "status" {
			c.addGateFlags(sub)
		}
		c.knows(sub, examples[sub.Name()], rolledOut...)
		for _, flag := range []string{"revision", "to-revision"} {
			if sub.Flags().Lookup(flag) != nil {
				completes(sub, flag, c.numbers)
			}
		}
	}
	return c.knows(cmd, examples[""])
}
