// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// create is kubectl's command, with three kinds more, and jobs from AdvancedCronJobs. (KC-15, KC-16, KC-31)
func (c *commands) create() *cobra.Command {
	cmd := create.NewCmdCreate(c.factory, c.IOStreams)
	for _, sub := range cmd.Commands() {
		if sub.Name() == "job" {
			c.jobFromAdvancedCronJob(sub)
		}
	}
	cmd.AddCommand(c.createRecreateRequest(), c.createBroadcastJob(), c.createImages())
	return cmd
}

// creation is a command that creates one object, with kubectl's flags for that.
type creation struct {
	*commands
	print        *genericclioptions.PrintFlags
	fieldManager string
}

func (c *commands) newCreation(cmd *cobra.Command) *creation {
	n := &creation{commands: c, print: genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme.Scheme)}
	n.print.AddFlags(cmd)
	cmdutil.AddApplyAnnotationFlags(cmd)
	cmdutil.AddValidateFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmdutil.AddFieldManagerFlagVar(cmd, &n.fieldManager, strings.Replace(c.name, "-", " ", 1)+"-create")
	return n
}

// creationOf is the creation of one of kubectl's commands, which has these flags.
func (c *commands) creationOf(cmd *cobra.Command) *creation {
	n := &creation{commands: c, print: genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme.Scheme), fieldManager: cmdutil.GetFlagString(cmd, "field-manager")}
	*n.print.OutputFormat = cmdutil.GetFlagString(cmd, "output")
	*n.print.TemplatePrinterFlags.TemplateArgument = cmdutil.GetFlagString(cmd, "template")
	return n
}

// run creates an object of a kind, in the version that the API server prefers.
func (n *creation) run(cmd *cobra.Command, kind schema.GroupKind, name string, fields map[string]any) error {
	dryRun, err := cmdutil.GetDryRunStrategy(cmd)
	if err != nil {
		return err
	}
	cmdutil.PrintFlagsWithDryRunStrategy(n.print, dryRun)
	printer, err := n.print.ToPrinter()
	if err != nil {
		return err
	}
	validation, err := cmdutil.GetValidationDirective(cmd)
	if err != nil {
		return err
	}
	namespace, _, err := n.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return err
	}
	mapper, err := n.factory.ToRESTMapper()
	if err != nil {
		return err
	}
	mapping, err := mapper.RESTMapping(kind)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	object.SetName(name)
	object.SetNamespace(namespace)
	if err := util.CreateOrUpdateAnnotation(cmdutil.GetFlagBool(cmd, cmdutil.ApplyAnnotationsFlag), object, unstructured.UnstructuredJSONScheme); err != nil {
		return err
	}
	if dryRun == cmdutil.DryRunClient {
		return printer.PrintObj(object, n.Out)
	}
	client, err := n.factory.UnstructuredClientForMapping(mapping)
	if err != nil {
		return err
	}
	made, err := resource.NewHelper(client, mapping).DryRun(dryRun == cmdutil.DryRunServer).
		WithFieldManager(n.fieldManager).WithFieldValidation(validation).Create(namespace, true, object)
	if err != nil {
		return err
	}
	return printer.PrintObj(made, n.Out)
}

// advancedCronJob reads the AdvancedCronJob that --from names as acj/NAME.
func (c *commands) advancedCronJob(from string) (*unstructured.Unstructured, error) {
	info, err := c.one([]string{from})
	if err != nil {
		return nil, err
	}
	job, ok := info.Object.(*unstructured.Unstructured)
	if kind := info.Mapping.GroupVersionKind.GroupKind(); !ok || kind != (schema.GroupKind{Group: workload.Group, Kind: "AdvancedCronJob"}) {
		return nil, fmt.Errorf("--from must be an AdvancedCronJob, as acj/NAME, and %s is a %s", from, kind.Kind)
	}
	return job, nil
}

// fromTemplate returns the fields of an object made from one of the templates of an AdvancedCronJob. The AdvancedCronJob
// owns it, so that it goes with it, but does not control it: it is not one of the scheduled ones.
func (c *commands) fromTemplate(cron *unstructured.Unstructured, field string) (map[string]any, error) {
	template, found, err := unstructured.NestedMap(cron.Object, "spec", "template", field)
	if err != nil || !found {
		return nil, c.otherTemplate(cron, field)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": template["spec"]}}
	labels, _, _ := unstructured.NestedStringMap(template, "metadata", "labels")
	annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["cronjob.kubernetes.io/instantiate"] = "manual"
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	owner := map[string]any{"apiVersion": cron.GetAPIVersion(), "kind": cron.GetKind(), "name": cron.GetName(), "uid": string(cron.GetUID())}
	return object.Object, unstructured.SetNestedSlice(object.Object, []any{owner}, "metadata", "ownerReferences")
}
