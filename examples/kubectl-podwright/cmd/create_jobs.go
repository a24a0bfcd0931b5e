// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// createBroadcastJob creates a BroadcastJob of an image, or from an AdvancedCronJob. (KC-16)
func (c *commands) createBroadcastJob() *cobra.Command {
	var image, from string
	cmd := &cobra.Command{
		Use:                   "broadcastJob NAME --image=IMAGE [--from=acj/NAME] -- [COMMAND] [args...]",
		Aliases:               []string{"broadcastjob", "bcj"},
		DisableFlagsInUseLine: true,
		Short:                 "Create a broadcast job with the specified name",
		Long: templates.LongDesc(`
			Create a broadcast job, which runs a pod on every node: of an image, or from the template of an advanced cron job.`),
		Example: templates.Examples(`
			# Run an image on every node
			` + c.name + ` create broadcastJob clean --image=busybox:1.37 -- rm -rf /var/cache/app

			# Run what an advanced cron job runs, now
			` + c.name + ` create broadcastJob clean-now --from=acj/clean`),
	}
	creation := c.newCreation(cmd)
	cmd.Flags().StringVar(&image, "image", "", "Image name to run.")
	cmd.Flags().StringVar(&from, "from", "", "The AdvancedCronJob to create the broadcast job from, as acj/NAME.")
	completes(cmd, "from", c.names("advancedcronjob", "acj/"))
	cmd.Run = func(cmd *cobra.Command, args []string) {
		name, err := create.NameFromCommandArgs(cmd, args)
		cmdutil.CheckErr(err)
		fields, err := c.broadcastJob(name, image, from, args[1:])
		cmdutil.CheckErr(err)
		cmdutil.CheckErr(creation.run(cmd, schema.GroupKind{Group: workload.Group, Kind: "BroadcastJob"}, name, fields))
	}
	return cmd
}

func (c *commands) broadcastJob(name, image, from string, command []string) (map[string]any, error) {
	switch {
	case (image == "") == (from == ""):
		return nil, errors.New("either --image or --from must be specified")
	case from != "" && len(command) > 0:
		return nil, errors.New("cannot specify --from and command")
	case from != "":
		cron, err := c.advancedCronJob(from)
		if err != nil {
			return nil, err
		}
		return c.fromTemplate(cron, "broadcastJobTemplate")
	}
	container := map[string]any{"name": name, "image": image}
	if len(command) > 0 {
		container["command"] = anys(command)
	}
	pod := map[string]any{"restartPolicy": "Never", "containers": []any{container}}
	return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": pod}}}, nil
}

// jobFromAdvancedCronJob has kubectl's "create job" take an AdvancedCronJob as well. (KC-16)
func (c *commands) jobFromAdvancedCronJob(cmd *cobra.Command) {
	run := cmd.Run
	flag := cmd.Flags().Lookup("from")
	flag.Usage = "The name of the resource to create a Job from: cronjob/NAME or acj/NAME."
	completes(cmd, "from", func(cmd *cobra.Command, args []string, begun string) []string {
		return append(c.names("cronjob", "cronjob/")(cmd, args, begun), c.names("advancedcronjob", "acj/")(cmd, args, begun)...)
	})
	cmd.Run = func(cmd *cobra.Command, args []string) {
		kind, _, _ := strings.Cut(flag.Value.String(), "/")
		if !isAdvancedCronJob(kind) {
			run(cmd, args)
			return
		}
		name, err := create.NameFromCommandArgs(cmd, args)
		cmdutil.CheckErr(err)
		if len(args) > 1 || cmd.Flags().Changed("image") {
			cmdutil.CheckErr(errors.New("cannot specify --from and an image or command"))
		}
		cron, err := c.advancedCronJob(flag.Value.String())
		cmdutil.CheckErr(err)
		fields, err := c.fromTemplate(cron, "jobTemplate")
		cmdutil.CheckErr(err)
		cmdutil.CheckErr(c.creationOf(cmd).run(cmd, schema.GroupKind{Group: "batch", Kind: "Job"}, name, fields))
	}
	cmd.Example += "\n\n" + templates.Examples(`
		# Create a job from an advanced cron job named "report"
		kubectl create job report-now --from=acj/report`)
}

func isAdvancedCronJob(resource string) bool {
	switch resource, _, _ = strings.Cut(strings.ToLower(resource), "."); resource {
	case "acj", "advancedcronjob", "advancedcronjobs":
		return true
	}
	return false
}
