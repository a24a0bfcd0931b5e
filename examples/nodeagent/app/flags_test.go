// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/process/features"
)

func onNode(name string) string {
	if name == "NODE_NAME" {
		return "node-1"
	}
	return ""
}

func parse(arguments []string, getenv func(string) string) (Config, error) {
	c := NewConfig(getenv)
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	c.AddFlags(flags)
	return c, errors.Join(flags.Parse(arguments), c.Validate())
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		arguments []string
		change    func(*Config)
	}{
		"PF-3: the defaults": {nil, func(*Config) {}},
		"PF-3: the arguments of OpenKruise's DaemonSet": {[]string{"--addr=:10999", "--feature-gates=AllAlpha=true"}, func(c *Config) {
			c.HealthAddr, c.Features.Gates = ":10999", "AllAlpha=true"
		}},
		"PF-3: the arguments of OpenKruise 1.9": {[]string{"--enable-pprof=false", "--plugin-config-file=/p.yaml", "--plugin-bin-dir=/p", "--max-workers-for-pull-image=2",
			"--rest-config-qps=1", "--rest-config-burst=2"}, func(c *Config) {
			c.CredentialProviderConfig, c.CredentialProviderBinDir, c.MaxPulls = "/p.yaml", "/p", 2
		}},
		"PF-3: profiles by the switch alone": {[]string{"--enable-pprof"}, func(c *Config) { c.PprofAddr = "localhost:10222" }},
		"PF-3: a socket by its name":         {[]string{"--socket-file=crio.sock"}, func(c *Config) { c.SocketFile = "crio.sock" }},
		"the socket":                         {[]string{"--cri-endpoint=unix:///x.sock"}, func(c *Config) { c.Endpoint = "unix:///x.sock" }},
		"a path as the socket":               {[]string{"--cri-endpoint=/x.sock"}, func(c *Config) { c.Endpoint = "/x.sock" }},
		"a flag goes before the environment": {[]string{"--node-name=other"}, func(c *Config) { c.NodeName = "other" }},
		"servers off":                        {[]string{"--health-addr=0", "--pprof-addr="}, func(c *Config) { c.HealthAddr = "0" }},
		"PF-3: profiles":                     {[]string{"--pprof-addr=:10222"}, func(c *Config) { c.PprofAddr = ":10222" }},
		"pods":                               {[]string{"--pods=kubelet", "--kubelet-pods-socket=/x"}, func(c *Config) { c.Pods, c.KubeletSocket = PodsOfKubelet, "/x" }},
		"a limit":                            {[]string{"--max-grace-period=1h"}, func(c *Config) { c.MaxGracePeriod = time.Hour }},
		"concurrency":                        {[]string{"--concurrency=7", "--restart-concurrency=8"}, func(c *Config) { c.Concurrency, c.RestartConcurrency = 7, 8 }},
		"no images":                          {[]string{"--pull-images=false"}, func(c *Config) { c.PullImages = false }},
		"the API server":                     {[]string{"--kubeconfig=/x"}, func(c *Config) { c.Kubeconfig = "/x" }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := Config{NodeName: "node-1", Features: features.Flags{Release: podwright.Release14}, Pods: PodsAuto, KubeletSocket: "/var/lib/kubelet/pods-api/pods-api.sock", Concurrency: 5, RestartConcurrency: 10, PullImages: true, HealthAddr: ":10221"}
			c.change(&want)
			got, err := parse(c.arguments, onNode)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v, configuration (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestWrongFlags(t *testing.T) {
	cases := map[string]struct {
		arguments []string
		getenv    func(string) string
		want      string
	}{
		"PF-3: no name":         {nil, func(string) string { return "" }, "--node-name=: want the name of the node, here or in the environment variable NODE_NAME"},
		"a name that is none":   {[]string{"--node-name=A_B"}, onNode, "--node-name=A_B: a lowercase"},
		"an unknown flag":       {[]string{"--adr=x"}, onNode, "adr"},
		"gate":                  {[]string{"--feature-gates=X=true"}, onNode, "--feature-gates=X=true"},
		"two sockets":           {[]string{"--socket-file=a", "--cri-endpoint=/b"}, onNode, "--socket-file=a: want either this or --cri-endpoint"},
		"no socket":             {[]string{"--cri-endpoint=tcp://x"}, onNode, "--cri-endpoint=tcp://x: want the path of a socket"},
		"pods of no one":        {[]string{"--pods=x"}, onNode, "--pods=x: want apiserver, kubelet or auto"},
		"a limit below 0":       {[]string{"--max-grace-period=-1s"}, onNode, "--max-grace-period=-1s: want 0 or more"},
		"no workers":            {[]string{"--concurrency=0"}, onNode, "--concurrency=0: want at least 1"},
		"no workers to restart": {[]string{"--restart-concurrency=0"}, onNode, "--restart-concurrency=0: want at least 1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.arguments, c.getenv)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	for want, config := range map[string]Config{
		"unix:///x.sock": {Endpoint: "unix:///x.sock"},
		"/hostvarrun/k3s/containerd/containerd.sock": {SocketFile: "k3s/containerd/containerd.sock"}, // IMG-3.5
		"": {},
	} {
		if got := config.endpoint(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, want := range []string{"/hostvarrun/containerd.sock", "/hostvarrun/crio/crio.sock", "/hostvarrun/cri-dockerd/cri-dockerd.sock", "/run/containerd/containerd.sock"} { // IMG-3.5
		if !slices.Contains(endpoints(), want) {
			t.Errorf("%s is not looked for", want)
		}
	}
}
