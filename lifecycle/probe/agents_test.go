// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// replay sends the results of an agent for a pod, as they were written down. Each is an update of the whole status of the
// NodePodProbe.
func (c *cluster) replay(file, node, name string, each func()) {
	c.Helper()
	text, err := os.ReadFile("testdata/agents/" + file)
	c.Must(err)
	pod, err := c.kube.CoreV1().Pods(namespace).Get(c.Context(), name, metav1.GetOptions{})
	c.Must(err)
	agent := c.lifecycle(agentUser).NodePodProbes()
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if after, is := strings.CutPrefix(line, "after "); is {
			d, err := time.ParseDuration(after)
			c.Must(err)
			c.Sleep(d)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			result := v1alpha1.ContainerProbeState{}
			c.Must(json.Unmarshal([]byte(strings.ReplaceAll(line, "NOW", time.Now().UTC().Format(time.RFC3339))), &result))
			probes, err := agent.Get(c.Context(), node, metav1.GetOptions{})
			c.Must(err)
			probes.Status.PodProbeStatuses = []v1alpha1.PodProbeStatus{{Namespace: namespace, Name: name, UID: pod.UID, ProbeStates: []v1alpha1.ContainerProbeState{result}}}
			_, err = agent.UpdateStatus(c.Context(), probes, metav1.UpdateOptions{})
			c.Must(err)
			synctest.Wait()
			each()
		}
	}
}

// Agents of OpenKruise beside podwright's manager: their results reach the pods, and what they write again costs nothing. (PPM-3.4, PPM-3.5)
func TestAgentsOfOpenKruise(t *testing.T) {
	const unknown, yes, no = "idle= cost= Idle=Unknown", "idle=yes cost=-10 Idle=True", "idle=no cost= Idle=False"
	for _, test := range []struct {
		name, file string
		want       []string
		writes     []string
	}{
		{"PPM-3.5: 1.4 and 1.5 write after each run", "1.4.txt", []string{unknown, yes, yes, no}, []string{"3 patch pods/status"}},
		{"PPM-3.4: 1.9 writes the same again after ten minutes", "1.9.txt", []string{unknown, no, yes, yes}, []string{"3 patch pods/status"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(c *cluster) {
				c.addNode("n1")
				c.addPod("n1", "web-0", "web")
				c.mark("a", "web", idle)
				c.sent()
				var got []string
				c.replay(test.file, "n1", "web-0", func() { got = append(got, c.pod("web-0")) })
				expect(c, "the pod after each result", test.want, got)
				expect(c, "writes", test.writes, c.sent())
			})
		})
	}
}
