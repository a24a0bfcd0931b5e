// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util"
	utilcomp "k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/features"
)

// withPlans are the kinds that plan, explain and tree know.
var withPlans = []string{"cloneset", "statefulset.apps.kruise.io", "daemonset.apps.kruise.io", "sidecarset", "uniteddeployment"}

const nothing = "Nothing is to be done."

// plan prints what the controller does next. (KC-19)
func (c *commands) plan() *cobra.Command {
	var filename, output string
	var full bool
	cmd := &cobra.Command{
		Use:                   "plan (TYPE NAME | TYPE/NAME | -f FILENAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Show what the controller does next to a workload, or would do",
		Long: templates.LongDesc(`
			Show what the next reconcile of a cloneset, an advanced statefulset or daemonset, or a sidecarset does: which pods it
			updates in place, recreates, creates and deletes, and which pods wait, and for what; of a uniteddeployment, which
			workloads it creates, changes and deletes. With a file, what it would do once that were applied.

			A word says what the controller does to a pod: create, delete, update in place, adopt, release, prepare by its hook,
			keep after all, record its state, restore its labels; "resize" is for a claim. "recreate" deletes the pod, and it comes again at the new revision.
			"replace" is for a pod that has failed. A pod that waits does so for the rule that is named beside it.

			The decisions are made by the controller's own planner, from what the API server has now; nothing is written. They are
			those of a manager with the given feature gates, without what only it remembers, such as a back-off.`),
		Example: templates.Examples(`
			# What happens next to a cloneset
			` + c.name + ` plan cloneset/web

			# Which pods get the new sidecars of a sidecarset next, in all namespaces
			` + c.name + ` plan sidecarset/mesh

			# What an edited manifest would do
			` + c.name + ` plan -f web.yaml

			# What happens next if the manager runs with these flags
			` + c.name + ` plan asts/web --release=1.9 --feature-gates=StatefulSetAutoResizePVCGate=true`),
		ValidArgsFunction: utilcomp.SpecifiedResourceTypeAndNameNoRepeatCompletionFunc(c.factory, withPlans),
		Run: func(cmd *cobra.Command, args []string) {
			o, exists, err := c.subject(args, filename)
			cmdutil.CheckErr(err)
			p, err := c.planFor(cmd.Context(), o)
			cmdutil.CheckErr(err)
			if full {
				fmt.Fprintln(c.Out, cmp.Or(p.Text, nothing))
				return
			}
			if !exists || filename != "" && o.Kind().NamesPodsBy(workload.NamesOfVersion) {
				p.ForgetNames(o.Kind())
			}
			if output != "" {
				cmdutil.CheckErr(c.encode(output, planned{Of: o.Title(), Problems: problems(p), Next: list(p.Rows())}))
				return
			}
			cmdutil.CheckErr(c.printPlan(o.Kind(), p))
		},
	}
	cmd.Flags().StringVarP(&filename, "filename", "f", "", "The manifest of the workload as it would be. What kubectl apply would make of it is planned for.")
	cmd.Flags().BoolVar(&full, "full", false, "Print all of the plan: revisions, claims, status too.")
	addOutputFlag(cmd, &output)
	c.addManagerFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("full", "output")
	return cmd
}

// planned is a plan as data.
type planned struct {
	// Of is the workload, as TYPE/NAME.
	Of       string     `json:"of"`
	Problems []string   `json:"problems,omitempty"`
	Next     []plan.Row `json:"next"`
}

func problems(p *plan.Plan) (all []string) {
	for _, problem := range p.Problems {
		all = append(all, problem.String())
	}
	return all
}

// subject returns the workload that is asked about, and whether the API server has it already. It is one of the cluster, or
// what applying a manifest would make of it.
func (c *commands) subject(args []string, filename string) (o *workload.Object, exists bool, err error) {
	if filename != "" {
		if len(args) > 0 {
			return nil, false, errors.New("when paths are provided as input, you may not specify resource arguments as well")
		}
		return c.applied(filename)
	}
	info, err := c.one(args)
	if err != nil {
		return nil, false, err
	}
	u, ok := info.Object.(*unstructured.Unstructured)
	if !ok || workload.KindOf(info.Mapping.GroupVersionKind.GroupKind()) == nil {
		return nil, false, fmt.Errorf("%s is not a kind of %s", info.Mapping.GroupVersionKind.GroupKind(), workload.Group)
	}
	return &workload.Object{Unstructured: *u}, true, nil
}

// applied returns what kubectl's apply would make of a manifest, and whether that changes something. The API server
// says so in a dry run.
func (c *commands) applied(filename string) (o *workload.Object, exists bool, err error) {
	namespace, enforce, err := c.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, false, err
	}
	infos, err := c.factory.NewBuilder().Unstructured().NamespaceParam(namespace).DefaultNamespace().
		FilenameParam(enforce, &resource.FilenameOptions{Filenames: []string{filename}}).Flatten().Do().Infos()
	if err != nil {
		return nil, false, err
	}
	if len(infos) != 1 {
		return nil, false, fmt.Errorf("want one workload in %s, found %d", filename, len(infos))
	}
	after, exists, err := dryApply(infos[0])
	if err != nil {
		return nil, false, err
	}
	u, ok := after.(*unstructured.Unstructured)
	if !ok {
		return nil, false, fmt.Errorf("want a workload in %s, found a %T", filename, after)
	}
	return &workload.Object{Unstructured: *u}, exists, nil
}

// dryApply creates an object or patches it by kubectl's three-way merge, in a dry run. It tells whether there is one to patch.
func dryApply(info *resource.Info) (after runtime.Object, exists bool, err error) {
	helper := resource.NewHelper(info.Client, info.Mapping).DryRun(true).WithFieldManager("kubectl-plan")
	current, err := helper.Get(info.Namespace, info.Name)
	if apierrors.IsNotFound(err) {
		after, err = helper.Create(info.Namespace, true, info.Object)
		return after, false, err
	}
	if err != nil {
		return nil, false, err
	}
	original, err := util.GetOriginalConfiguration(current)
	if err != nil {
		return nil, false, err
	}
	modified, err := runtime.Encode(unstructured.UnstructuredJSONScheme, info.Object)
	if err != nil {
		return nil, false, err
	}
	now, err := runtime.Encode(unstructured.UnstructuredJSONScheme, current)
	if err != nil {
		return nil, false, err
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, now)
	if err != nil {
		return nil, false, err
	}
	after, err = helper.Patch(info.Namespace, info.Name, types.MergePatchType, patch, nil)
	return after, true, err
}

func (c *commands) planner() (*plan.Planner, error) {
	config, err := c.factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	mapper, err := c.factory.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	gates, err := c.managerGates()
	if err != nil {
		return nil, err
	}
	return plan.NewPlanner(config, mapper, c.clock, gates, c.settings)
}

// managerGates are the gates that the manager is said to have.
func (c *commands) managerGates() (*features.Gates, error) {
	gates, err := c.gates.Parse()
	if err != nil {
		return nil, fmt.Errorf("--feature-gates=%s: %w", c.gates.Gates, err)
	}
	return gates, nil
}

// addGateFlags lets users say which gates the manager has.
func (c *commands) addGateFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.gates.Gates, "feature-gates", c.gates.Gates, "The --feature-gates of the manager: Name=true|false,…")
	cmd.Flags().Var(&c.gates.Release, "release", "The --release of the manager: 1.4 or 1.9.")
}

// addManagerFlags lets users say which behaviour the manager has been told: what it does next depends on that.
func (c *commands) addManagerFlags(cmd *cobra.Command) {
	c.addGateFlags(cmd)
	ofManager := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	c.settings.AddFlags(ofManager)
	ofManager.VisitAll(func(f *pflag.Flag) {
		f.Usage = "The --" + f.Name + " of the manager: " + f.Usage + "."
		cmd.Flags().AddFlag(f)
	})
}

func (c *commands) planFor(ctx context.Context, o *workload.Object) (*plan.Plan, error) {
	planner, err := c.planner()
	if err != nil {
		return nil, err
	}
	return planner.Plan(ctx, o)
}

func (c *commands) printPlan(kind *workload.Entry, p *plan.Plan) error {
	for _, problem := range problems(p) {
		fmt.Fprintln(c.Out, problem)
	}
	rows := p.Rows()
	if len(rows) == 0 {
		fmt.Fprintln(c.Out, nothing)
		return nil
	}
	table := printers.GetNewTabWriter(c.Out)
	fmt.Fprintln(table, strings.ToUpper(kind.Makes())+"\tACTION\tDETAIL")
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\n", row.Pod, row.Action, row.Detail)
	}
	return table.Flush()
}
