// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/podwright/podwright/examples/kubectl-podwright/migrate"
)

// migrate moves the replicas of a Deployment to a CloneSet. (KC-14)
func (c *commands) migrate() *cobra.Command {
	var from, source, destination string
	var create, copyReplicas bool
	var replicas, surge, timeout int32
	cmd := &cobra.Command{
		Use:                   "migrate CloneSet --from Deployment --src-name=NAME [--dst-name=NAME] [--create [--copy]]",
		DisableFlagsInUseLine: true,
		Short:                 "Move the pods of a deployment to a cloneset",
		Long: templates.LongDesc(`
			Move the replicas of a deployment to a cloneset, some at a time: the cloneset is scaled out, and once its pods are ready the
			deployment is scaled in by as many. What has been moved stays so when the command ends early; call it again to go on.

			With --create, make the cloneset from the deployment instead, without pods, or with --copy with as many as
			the deployment has.`),
		Example: templates.Examples(`
			# Make a cloneset from a deployment, without pods
			` + c.name + ` migrate CloneSet --from Deployment --src-name=web --dst-name=web --create

			# Move three replicas to it, two at a time
			` + c.name + ` migrate CloneSet --from Deployment --src-name=web --dst-name=web --replicas=3 --max-surge=2`),
		ValidArgs: []string{"CloneSet"},
		Run: func(cmd *cobra.Command, args []string) {
			cmdutil.CheckErr(checkMigration(args, from, source, create, copyReplicas, surge))
			if destination == "" {
				destination = source
			}
			m, err := c.migration(source, destination)
			cmdutil.CheckErr(err)
			if create {
				cmdutil.CheckErr(m.Create(cmd.Context(), copyReplicas))
				return
			}
			ctx, cancel := cmd.Context(), context.CancelFunc(func() {})
			if timeout >= 0 {
				ctx, cancel = context.WithTimeout(ctx, time.Duration(timeout)*time.Second)
			}
			defer cancel()
			cmdutil.CheckErr(m.Move(ctx, replicas, surge))
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "The kind of the source: Deployment. Required.")
	cmd.Flags().StringVar(&source, "src-name", "", "The name of the deployment. Required.")
	cmd.Flags().StringVar(&destination, "dst-name", "", "The name of the cloneset. That of the deployment if not specified.")
	cmd.Flags().BoolVar(&create, "create", false, "Create the cloneset from the deployment, with 0 replicas, and move nothing.")
	cmd.Flags().BoolVar(&copyReplicas, "copy", false, "With --create, give the cloneset as many replicas as the deployment has.")
	cmd.Flags().Int32Var(&replicas, "replicas", -1, "How many replicas to move. -1 is all.")
	cmd.Flags().Int32Var(&surge, "max-surge", 1, "How many pods there may be beyond the replicas that there were.")
	cmd.Flags().Int32Var(&timeout, "timeout-seconds", -1, "Time to wait for the pods, in seconds. -1 is without end.")
	completes(cmd, "from", func(*cobra.Command, []string, string) []string { return []string{"Deployment"} })
	completes(cmd, "src-name", c.names("deployment", ""))
	completes(cmd, "dst-name", c.names("cloneset", ""))
	return cmd
}

func checkMigration(args []string, from, source string, create, copyReplicas bool, surge int32) error {
	switch {
	case len(args) != 1 || !strings.EqualFold(args[0], "cloneset"):
		return errors.New("the destination must be CloneSet")
	case !strings.EqualFold(from, "deployment"):
		return errors.New("--from must be Deployment")
	case source == "":
		return errors.New("--src-name is required")
	case copyReplicas && !create:
		return errors.New("--copy goes with --create")
	case surge < 1:
		return fmt.Errorf("--max-surge must be 1 or more, not %d", surge)
	}
	return nil
}

func (c *commands) migration(source, destination string) (*migrate.Migration, error) {
	namespace, _, err := c.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	m := &migrate.Migration{Namespace: namespace, Source: source, Destination: destination, Interval: c.interval, Out: c.Out}
	if m.Kubernetes, err = c.factory.KubernetesClientSet(); err != nil {
		return nil, err
	}
	if m.Dynamic, err = c.factory.DynamicClient(); err != nil {
		return nil, err
	}
	m.Mapper, err = c.factory.ToRESTMapper()
	return m, err
}
