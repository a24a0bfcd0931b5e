// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	utilcomp "k8s.io/kubectl/pkg/util/completion"
)

// completes has a function complete the values of a flag. What that cannot find out completes nothing. (KC-21)
func completes(cmd *cobra.Command, flag string, complete func(cmd *cobra.Command, args []string, begun string) []string) {
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		return complete(cmd, args, begun), cobra.ShellCompDirectiveNoFileComp
	}))
}

// names completes the names of objects of a type, behind a prefix.
func (c *commands) names(resource, prefix string) func(*cobra.Command, []string, string) []string {
	return func(_ *cobra.Command, _ []string, begun string) []string {
		begun, _ = strings.CutPrefix(begun, prefix)
		return prefixed(prefix, utilcomp.CompGetResource(c.factory, resource, begun))
	}
}

func prefixed(prefix string, all []string) []string {
	for i := range all {
		all[i] = prefix + all[i]
	}
	return all
}

// several completes the last of some values with commas between them.
func several(complete func(cmd *cobra.Command, args []string, begun string) []string) func(*cobra.Command, []string, string) []string {
	return func(cmd *cobra.Command, args []string, begun string) []string {
		at := strings.LastIndex(begun, ",") + 1
		return prefixed(begun[:at], complete(cmd, args, begun[at:]))
	}
}

// containers completes the containers of the pod that another flag names.
func (c *commands) containers(podFlag string) func(*cobra.Command, []string, string) []string {
	return func(cmd *cobra.Command, _ []string, begun string) []string {
		return utilcomp.CompGetContainers(c.factory, cmdutil.GetFlagString(cmd, podFlag), begun)
	}
}

// members completes the pods that the CloneSet in the arguments controls.
func (c *commands) members(cmd *cobra.Command, args []string, begun string) (pods []string) {
	info, err := c.one(args)
	if err != nil {
		return nil
	}
	set, err := meta.Accessor(info.Object)
	if err != nil {
		return nil
	}
	kube, err := c.factory.KubernetesClientSet()
	if err != nil {
		return nil
	}
	list, err := kube.CoreV1().Pods(set.GetNamespace()).List(cmd.Context(), metav1.ListOptions{})
	if err != nil {
		return nil
	}
	for i := range list.Items {
		if pod := &list.Items[i]; metav1.IsControlledBy(pod, set) && pod.DeletionTimestamp == nil && strings.HasPrefix(pod.Name, begun) {
			pods = append(pods, pod.Name)
		}
	}
	return pods
}

// numbers completes the numbers of the revisions of the workload in the arguments.
func (c *commands) numbers(_ *cobra.Command, args []string, begun string) (all []string) {
	info, err := c.one(args)
	if err != nil {
		return nil
	}
	viewer, err := polymorphichelpers.HistoryViewerFn(c.factory, info.Mapping)
	if err != nil {
		return nil
	}
	history, err := viewer.GetHistory(info.Namespace, info.Name)
	if err != nil {
		return nil
	}
	for number := range history {
		if text := strconv.FormatInt(number, 10); strings.HasPrefix(text, begun) {
			all = append(all, text)
		}
	}
	return all
}

// podsOrTypes completes what exec takes: pods, types that have pods, and names of their objects.
func (c *commands) podsOrTypes(kubectls cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		all, directive := kubectls(cmd, args, begun)
		if len(args) > 0 || strings.Contains(begun, "/") {
			return all, directive
		}
		for _, kind := range []string{"cloneset", "statefulset.apps.kruise.io", "daemonset.apps.kruise.io"} {
			if strings.HasPrefix(kind, begun) {
				all = append(all, kind+"/")
			}
		}
		return all, directive
	}
}
