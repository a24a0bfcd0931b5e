// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/cmd/exec"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/scheme"

	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// exec is kubectl's command, which finds the pods of podwright's kinds too. With --sidecar it finds the container that works
// of those that a SidecarSet injects by turns. (KC-17)
func (c *commands) exec() *cobra.Command {
	cmd := exec.NewCmdExec(c.factory, c.IOStreams)
	var sidecar string
	cmd.Flags().StringVarP(&sidecar, "sidecar", "S", "", "The name of a container of a SidecarSet with hot upgrades: of the two containers that stand for it in the pod, the one that works is taken.")
	cmd.ValidArgsFunction = c.podsOrTypes(cmd.ValidArgsFunction)
	run := cmd.Run
	cmd.Run = func(cmd *cobra.Command, args []string) {
		if sidecar != "" {
			if cmd.Flags().Changed("container") || len(args) == 0 {
				cmdutil.CheckErr(cmdutil.UsageErrorf(cmd, "--sidecar needs a pod or TYPE/NAME, and takes the place of --container"))
			}
			container, err := c.useWorking(cmd, args, sidecar)
			cmdutil.CheckErr(err)
			cmdutil.CheckErr(cmd.Flags().Set("container", container))
		}
		run(cmd, args)
	}
	return c.knows(cmd, `
		# Run date in the first container of a pod of a cloneset
		kubectl exec cloneset/web -- date

		# Run date in the container of the sidecar "envoy" that works, of envoy-1 and envoy-2
		kubectl exec web-4kxcz -S envoy -- date`)
}

// useWorking returns the container that works for a sidecar, in the pod that the first argument stands for. It puts the
// pod's name there, so that no other pod is taken afterwards.
func (c *commands) useWorking(cmd *cobra.Command, args []string, sidecar string) (string, error) {
	pod, err := c.pod(cmd, args[0])
	if err != nil {
		return "", err
	}
	args[0] = pod.Name
	return working(pod, sidecar)
}

// pod returns the pod that a name or TYPE/NAME stands for.
func (c *commands) pod(cmd *cobra.Command, name string) (*corev1.Pod, error) {
	namespace, _, err := c.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	timeout, err := cmdutil.GetPodRunningTimeoutFlag(cmd)
	if err != nil {
		return nil, err
	}
	obj, err := c.factory.NewBuilder().WithScheme(scheme.Scheme, scheme.Scheme.PrioritizedVersionsAllGroups()...).
		NamespaceParam(namespace).DefaultNamespace().ResourceNames("pods", name).Do().Object()
	if err != nil {
		return nil, err
	}
	return polymorphichelpers.AttachablePodForObjectFn(c.factory, obj, timeout)
}

// working returns the container that works for a sidecar.
func working(pod *corev1.Pod, sidecar string) (string, error) {
	const key = sidecarv1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation
	byName := map[string]string{}
	if text := pod.Annotations[key]; text != "" {
		if err := json.Unmarshal([]byte(text), &byName); err != nil {
			return "", fmt.Errorf("annotation %s of pod %s: %w", key, pod.Name, err)
		}
	}
	if container := byName[sidecar]; container != "" {
		return container, nil
	}
	return "", fmt.Errorf("pod %s has no sidecar %q with hot upgrades: its annotation %s is %q", pod.Name, sidecar, key, pod.Annotations[key])
}
