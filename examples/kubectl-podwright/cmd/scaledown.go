// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	utilcomp "k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"
)

// scaledown deletes chosen pods of a CloneSet for good. (KC-11)
func (c *commands) scaledown() *cobra.Command {
	var pods []string
	flags := genericclioptions.NewPrintFlags("scaled down").WithTypeSetter(scheme.Scheme)
	cmd := &cobra.Command{
		Use:                   "scaledown (cloneset NAME | cloneset/NAME) --pods=POD,...",
		DisableFlagsInUseLine: true,
		Short:                 "Scale a cloneset down by pods of your choice",
		Long: templates.LongDesc(`
			Delete the named pods of a cloneset, and lower its replicas by as many, in one change: no other pod is deleted
			for them, and none created.

			Each pod must be one of the cloneset's that is not being deleted yet.`),
		Example: templates.Examples(`
			# Delete two pods of a cloneset, which has two less afterwards
			` + c.name + ` scaledown cloneset/web --pods=web-4kxcz,web-x9v2d`),
		ValidArgsFunction: utilcomp.SpecifiedResourceTypeAndNameNoRepeatCompletionFunc(c.factory, []string{"cloneset"}),
		Run: func(cmd *cobra.Command, args []string) {
			if len(pods) == 0 {
				cmdutil.CheckErr(cmdutil.UsageErrorf(cmd, "--pods is required"))
			}
			cmdutil.CheckErr(c.runScaledown(cmd, args, pods, flags))
		},
	}
	cmd.Flags().StringSliceVar(&pods, "pods", nil, "The names of the pods to delete. Required.")
	completes(cmd, "pods", several(c.members))
	flags.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	return cmd
}

func (c *commands) runScaledown(cmd *cobra.Command, args, pods []string, flags *genericclioptions.PrintFlags) error {
	dryRun, err := cmdutil.GetDryRunStrategy(cmd)
	if err != nil {
		return err
	}
	cmdutil.PrintFlagsWithDryRunStrategy(flags, dryRun)
	printer, err := flags.ToPrinter()
	if err != nil {
		return err
	}
	info, err := c.one(args)
	if err != nil {
		return err
	}
	set, ok := info.Object.(*unstructured.Unstructured)
	if !ok || info.Mapping.GroupVersionKind.Kind != "CloneSet" {
		return fmt.Errorf("cannot scale a %s down by the names of pods: only clonesets can", info.Mapping.GroupVersionKind.Kind)
	}
	if err := c.checkMembers(cmd.Context(), set, pods); err != nil {
		return err
	}
	change, err := lowered(set, pods)
	if err != nil {
		return err
	}
	if dryRun == cmdutil.DryRunClient {
		return printer.PrintObj(set, c.Out)
	}
	after, err := resource.NewHelper(info.Client, info.Mapping).WithFieldManager("kubectl-scaledown").DryRun(dryRun == cmdutil.DryRunServer).
		Patch(info.Namespace, info.Name, types.MergePatchType, change, nil)
	if err != nil {
		return err
	}
	return printer.PrintObj(after, c.Out)
}

// one returns the one object that the arguments name, in the version that the API server prefers.
func (c *commands) one(args []string) (*resource.Info, error) {
	// kubectl's own words of such arguments name flags and commands that this program lacks.
	slashes := strings.Count(strings.Join(args, ""), "/")
	if len(args) == 0 || slashes > 1 || slashes == 1 && len(args) > 1 {
		return nil, fmt.Errorf("want one object, as TYPE NAME or TYPE/NAME, found %q", args)
	}
	namespace, _, err := c.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	infos, err := c.factory.NewBuilder().Unstructured().NamespaceParam(namespace).DefaultNamespace().
		ResourceTypeOrNameArgs(false, args...).SingleResourceType().Flatten().Do().Infos()
	if err != nil {
		return nil, err
	}
	if len(infos) != 1 {
		return nil, fmt.Errorf("want one object as TYPE/NAME, found %d", len(infos))
	}
	return infos[0], nil
}

// checkMembers returns an error unless all pods are the CloneSet's and are not being deleted.
func (c *commands) checkMembers(ctx context.Context, set *unstructured.Unstructured, pods []string) error {
	client, err := c.factory.KubernetesClientSet()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range pods {
		pod, err := client.CoreV1().Pods(set.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
		errs = append(errs, err)
		if err == nil {
			errs = append(errs, checkMember(set, pod))
		}
	}
	return utilerrors.NewAggregate(errs)
}

func checkMember(set *unstructured.Unstructured, pod *corev1.Pod) error {
	switch {
	case !metav1.IsControlledBy(pod, set):
		return fmt.Errorf("pod %s is not controlled by cloneset %s", pod.Name, set.GetName())
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted already", pod.Name)
	}
	return nil
}

// lowered lowers the replicas of a CloneSet by the pods, which it names for deletion. It returns the change as a
// merge patch that holds for the CloneSet that was read.
func lowered(set *unstructured.Unstructured, pods []string) ([]byte, error) {
	replicas, found, err := unstructured.NestedInt64(set.Object, "spec", "replicas")
	if err != nil {
		return nil, err
	}
	if !found {
		replicas = 1
	}
	named, _, err := unstructured.NestedStringSlice(set.Object, "spec", "scaleStrategy", "podsToDelete")
	if err != nil {
		return nil, err
	}
	for i, pod := range pods {
		if slices.Contains(named, pod) || slices.Contains(pods[:i], pod) {
			return nil, fmt.Errorf("pod %s is to be deleted already", pod)
		}
	}
	if replicas -= int64(len(pods)); replicas < 0 {
		return nil, fmt.Errorf("cannot delete %d pods of %d replicas", len(pods), replicas+int64(len(pods)))
	}
	named = append(named, pods...)
	_ = unstructured.SetNestedField(set.Object, replicas, "spec", "replicas")
	if err := unstructured.SetNestedStringSlice(set.Object, named, "spec", "scaleStrategy", "podsToDelete"); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": set.GetResourceVersion()},
		"spec":     map[string]any{"replicas": replicas, "scaleStrategy": map[string]any{"podsToDelete": named}},
	})
}
