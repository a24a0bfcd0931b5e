// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// imageFlags say which images an ImageListPullJob pulls, to which nodes and how. Those of the spec have its names.
type imageFlags struct {
	from                                            string
	images, nodes, secrets                          []string
	selector, podSelector, parallelism, imagePolicy string
	timeout, backoff, ttl                           int32
	deadline                                        int64
}

// createImages creates an ImageListPullJob of images, or from an AdvancedCronJob. (KC-31)
func (c *commands) createImages() *cobra.Command {
	flags := imageFlags{}
	cmd := &cobra.Command{
		Use:                   "imageListPullJob NAME --image=IMAGE [--from=acj/NAME]",
		Aliases:               []string{"imagelistpulljob"},
		DisableFlagsInUseLine: true,
		Short:                 "Create a job that pulls images to nodes",
		Long: templates.LongDesc(`
			Create a job that pulls images to nodes before pods need them: those that are named, or those of the template of an
			advanced cron job. It pulls to all nodes unless told otherwise.

			With --from, a flag that is given takes the place of what the template says. The job then goes with the advanced cron
			job, and does not count as one of its jobs: history limits do not delete it.`),
		Example: templates.Examples(`
			# Pull two images to all nodes, five nodes at a time
			` + c.name + ` create imageListPullJob warm --image=web:2 --image=proxy:7 --parallelism=5

			# Pull what an advanced cron job pulls, now, and delete the job ten minutes after its end
			` + c.name + ` create imageListPullJob base-now --from=acj/base --ttlSecondsAfterFinished=600

			# Look for a newer image of the same tag, on the nodes that run the pods of an app
			` + c.name + ` create imageListPullJob fresh --image=web:stable --imagePullPolicy=Always --podSelector=app=web`),
	}
	creation := c.newCreation(cmd)
	flags.add(cmd)
	completes(cmd, "from", c.names("advancedcronjob", "acj/"))
	completes(cmd, "nodes", several(c.names("node", "")))
	completes(cmd, "pullSecrets", several(c.names("secret", "")))
	cmd.Run = func(cmd *cobra.Command, args []string) {
		name, err := create.NameFromCommandArgs(cmd, args)
		cmdutil.CheckErr(err)
		fields, err := c.imageListPullJob(cmd, &flags)
		cmdutil.CheckErr(err)
		cmdutil.CheckErr(creation.run(cmd, schema.GroupKind{Group: workload.Group, Kind: "ImageListPullJob"}, name, fields))
	}
	return cmd
}

func (f *imageFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.images, "image", nil, "An image to pull. Can be given several times.")
	flags.StringVar(&f.from, "from", "", "The AdvancedCronJob to create the job from, as acj/NAME.")
	flags.StringSliceVar(&f.nodes, "nodes", nil, "The nodes to pull to, by name. All if not specified.")
	flags.StringVarP(&f.selector, "selector", "l", "", "The nodes to pull to, by label.")
	flags.StringVar(&f.podSelector, "podSelector", "", "Pull to the nodes that pods with these labels run on.")
	flags.StringVar(&f.parallelism, "parallelism", "", "How many nodes pull an image at a time, a number or a percentage. 1 if not specified.")
	flags.StringSliceVar(&f.secrets, "pullSecrets", nil, "The secrets with the credentials of the registry.")
	flags.StringVar(&f.imagePolicy, "imagePullPolicy", "", "IfNotPresent, or Always to have nodes look for a newer image of the same tag.")
	flags.Int32Var(&f.timeout, "timeoutSeconds", 0, "How long one attempt of a node may take. 600 if not specified.")
	flags.Int32Var(&f.backoff, "backoffLimit", 0, "How often a node tries again. 3 if not specified.")
	flags.Int64Var(&f.deadline, "activeDeadlineSeconds", 0, "When the job ends, whether nodes have pulled or not.")
	flags.Int32Var(&f.ttl, "ttlSecondsAfterFinished", 0, "When the job is deleted after its end. It is kept if not specified.")
}

// imageListPullJob returns the fields of the job.
func (c *commands) imageListPullJob(cmd *cobra.Command, f *imageFlags) (map[string]any, error) {
	if (len(f.images) == 0) == (f.from == "") {
		return nil, errors.New("either --image or --from must be specified")
	}
	fields := map[string]any{"spec": map[string]any{"images": anys(f.images), "completionPolicy": map[string]any{"type": "Always"}}}
	if f.from != "" {
		cron, err := c.advancedCronJob(f.from)
		if err != nil {
			return nil, err
		}
		if fields, err = c.fromTemplate(cron, imageTemplate); err != nil {
			return nil, err
		}
	}
	spec, ok := fields["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s has no spec in spec.template.%s", f.from, imageTemplate)
	}
	return fields, f.apply(cmd.Flags().Changed, spec)
}

// apply writes the flags that were given into a spec.
func (f *imageFlags) apply(given func(flag string) bool, spec map[string]any) error {
	within := func(flag, object string, value any) {
		if !given(flag) {
			return
		}
		in, ok := spec[object].(map[string]any)
		if !ok {
			in = map[string]any{}
			spec[object] = in
		}
		in[flag] = value
	}
	within("timeoutSeconds", "pullPolicy", int64(f.timeout))
	within("backoffLimit", "pullPolicy", int64(f.backoff))
	within("activeDeadlineSeconds", "completionPolicy", f.deadline)
	within("ttlSecondsAfterFinished", "completionPolicy", int64(f.ttl))
	if given("pullSecrets") {
		spec["pullSecrets"] = anys(f.secrets)
	}
	if given("imagePullPolicy") {
		spec["imagePullPolicy"] = f.imagePolicy
	}
	if given("parallelism") {
		switch n := intstr.Parse(f.parallelism); n.Type {
		case intstr.Int:
			spec["parallelism"] = int64(n.IntVal)
		default:
			spec["parallelism"] = n.StrVal
		}
	}
	return f.applyNodes(given, spec)
}

// applyNodes writes which nodes pull. One way to choose them takes the place of another one.
func (f *imageFlags) applyNodes(given func(flag string) bool, spec map[string]any) error {
	field, chosen := "", map[string]any{}
	for _, way := range []struct{ flag, field, labels string }{{"nodes", "selector", ""}, {"selector", "selector", f.selector}, {"podSelector", "podSelector", f.podSelector}} {
		if !given(way.flag) {
			continue
		}
		if field != "" {
			return errors.New("only one of --nodes, --selector and --podSelector can be specified")
		}
		field = way.field
		if way.flag == "nodes" {
			chosen["names"] = anys(f.nodes)
			continue
		}
		var err error
		if chosen, err = selectorOf(way.labels); err != nil {
			return fmt.Errorf("--%s: %w", way.flag, err)
		}
	}
	if field != "" {
		delete(spec, "selector")
		delete(spec, "podSelector")
		spec[field] = chosen
	}
	return nil
}

// selectorOf returns a label selector from the text that kubectl takes. metav1.ParseToLabelSelector does not take "key!=value".
func selectorOf(text string) (map[string]any, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		return nil, err
	}
	requirements, _ := parsed.Requirements()
	same, others := map[string]any{}, []any{}
	for _, r := range requirements {
		other := map[string]any{"key": r.Key()}
		switch operator := r.Operator(); operator {
		case selection.Equals, selection.DoubleEquals:
			same[r.Key()] = r.ValuesUnsorted()[0]
			continue
		case selection.In:
			other["operator"], other["values"] = string(metav1.LabelSelectorOpIn), anys(r.Values().List())
		case selection.NotIn, selection.NotEquals:
			other["operator"], other["values"] = string(metav1.LabelSelectorOpNotIn), anys(r.Values().List())
		case selection.Exists:
			other["operator"] = string(metav1.LabelSelectorOpExists)
		case selection.DoesNotExist:
			other["operator"] = string(metav1.LabelSelectorOpDoesNotExist)
		default:
			return nil, fmt.Errorf("a label selector of a spec has no operator %q", operator)
		}
		others = append(others, other)
	}
	selector := map[string]any{}
	if len(same) > 0 {
		selector["matchLabels"] = same
	}
	if len(others) > 0 {
		selector["matchExpressions"] = others
	}
	return selector, nil
}

// imageTemplate is the template of ImageListPullJobs.
const imageTemplate = "imageListPullJobTemplate"

// otherTemplate says that an AdvancedCronJob has not the template that was asked for, and which command goes with the one that it has.
func (c *commands) otherTemplate(cron *unstructured.Unstructured, field string) error {
	for _, other := range []struct{ field, command string }{{"jobTemplate", "job"}, {"broadcastJobTemplate", "broadcastJob"}, {imageTemplate, "imageListPullJob"}} {
		if _, found, err := unstructured.NestedMap(cron.Object, "spec", "template", other.field); err == nil && found {
			return fmt.Errorf("AdvancedCronJob %s has no spec.template.%s, only %s: use \"%s create %s NAME --from=acj/%s\"",
				cron.GetName(), field, other.field, c.name, other.command, cron.GetName())
		}
	}
	return fmt.Errorf("AdvancedCronJob %s has no spec.template.%s", cron.GetName(), field)
}

func anys(texts []string) []any {
	all := make([]any, len(texts))
	for i := range texts {
		all[i] = texts[i]
	}
	return all
}
