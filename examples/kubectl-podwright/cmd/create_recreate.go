// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// recreateFlags say what a ContainerRecreateRequest asks for.
type recreateFlags struct {
	pod                   string
	containers            []string
	unready, started, end int64
}

// createRecreateRequest creates a ContainerRecreateRequest. (KC-15)
func (c *commands) createRecreateRequest() *cobra.Command {
	flags := recreateFlags{}
	cmd := &cobra.Command{
		Use:                   "ContainerRecreateRequest NAME --pod=POD [--containers=CONTAINER,...]",
		Aliases:               []string{"containerrecreaterequest", "crr"},
		DisableFlagsInUseLine: true,
		Short:                 "Create a request to recreate containers of a pod",
		Long: templates.LongDesc(`
			Create a request to the agent on the node to stop containers of a pod, so that kubelet starts them again, without
			recreating the pod.

			The request ends after 300 seconds, done or not, and is deleted 1800 seconds later.`),
		Example: templates.Examples(`
			# Restart all containers of a pod
			` + c.name + ` create ContainerRecreateRequest restart-web --pod=web-4kxcz

			# Restart two of them, ten seconds after the pod has left its services
			` + c.name + ` create crr restart-web --pod=web-4kxcz --containers=nginx,sidecar --unreadyGracePeriodSeconds=10`),
	}
	creation := c.newCreation(cmd)
	cmd.Flags().StringVarP(&flags.pod, "pod", "p", "", "The name of the pod. Required.")
	cmd.Flags().StringSliceVarP(&flags.containers, "containers", "c", nil, "The containers to recreate. All of the pod if not specified.")
	cmd.Flags().Int64VarP(&flags.unready, "unreadyGracePeriodSeconds", "u", 3, "How long the pod is not ready before its containers are stopped, if it has the readiness gate for it.")
	cmd.Flags().Int64VarP(&flags.started, "minStartedSeconds", "m", 0, "How long a new container must run to count as recreated.")
	cmd.Flags().Int64Var(&flags.end, "terminationGracePeriodSeconds", 0, "How long containers get to stop. That of the pod if not specified.")
	completes(cmd, "pod", c.names("pod", ""))
	completes(cmd, "containers", several(c.containers("pod")))
	cmd.Run = func(cmd *cobra.Command, args []string) {
		name, err := create.NameFromCommandArgs(cmd, args)
		cmdutil.CheckErr(err)
		if flags.pod == "" {
			cmdutil.CheckErr(cmdutil.UsageErrorf(cmd, "--pod is required"))
		}
		pod, err := c.podNamed(cmd, flags.pod)
		cmdutil.CheckErr(err)
		fields, err := flags.request(pod, cmd.Flags().Changed("terminationGracePeriodSeconds"))
		cmdutil.CheckErr(err)
		cmdutil.CheckErr(creation.run(cmd, schema.GroupKind{Group: workload.Group, Kind: "ContainerRecreateRequest"}, name, fields))
	}
	return cmd
}

func (c *commands) podNamed(cmd *cobra.Command, name string) (*corev1.Pod, error) {
	namespace, _, err := c.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	client, err := c.factory.KubernetesClientSet()
	if err != nil {
		return nil, err
	}
	return client.CoreV1().Pods(namespace).Get(cmd.Context(), name, metav1.GetOptions{})
}

// request returns the fields of the request. The API server has defaults for none of them.
func (f *recreateFlags) request(pod *corev1.Pod, end bool) (map[string]any, error) {
	names := make([]string, len(pod.Spec.Containers))
	for i := range pod.Spec.Containers {
		names[i] = pod.Spec.Containers[i].Name
	}
	wanted := f.containers
	if len(wanted) == 0 {
		wanted = names
	}
	var containers []any
	var unknown []error
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			unknown = append(unknown, fmt.Errorf("pod %s has no container %q, only %q", pod.Name, name, names))
		}
		containers = append(containers, map[string]any{"name": name})
	}
	strategy := map[string]any{"failurePolicy": "Fail", "orderedRecreate": false, "unreadyGracePeriodSeconds": f.unready}
	if f.started > 0 {
		strategy["minStartedSeconds"] = f.started
	}
	if end {
		strategy["terminationGracePeriodSeconds"] = f.end
	}
	return map[string]any{"spec": map[string]any{
		"podName": pod.Name, "containers": containers, "strategy": strategy,
		"activeDeadlineSeconds": int64(300), "ttlSecondsAfterFinished": int64(1800),
	}}, errors.Join(unknown...)
}
