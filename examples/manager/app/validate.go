package app

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podwright/podwright/examples/manager/features"
)

// Validate returns all that is wrong with a configuration, naming the flag, its
// value and the rule; nil when nothing is.
func (c *Config) Validate() error {
	var v checks
	_, err := features.Parse(c.FeatureGates, c.CustomResources)
	if err != nil {
		v = append(v, fmt.Errorf("--feature-gates=%s: %w", c.FeatureGates, err))
	}
	v.check(c.CloneSetWorkers >= 1, "cloneset-workers", c.CloneSetWorkers, "want at least 1")
	v.check(c.StatefulSetWorkers >= 1, "statefulset-workers", c.StatefulSetWorkers, "want at least 1")
	v.check(c.ImagePullJobWorkers >= 1, "imagepulljob-workers", c.ImagePullJobWorkers, "want at least 1")
	v.check(c.NodeImageWorkers >= 1, "nodeimage-workers", c.NodeImageWorkers, "want at least 1")
	v.check(c.NodeImageCreationDelay >= 0, "nodeimage-creation-delay", c.NodeImageCreationDelay, "want 0 or more")
	v.check(c.NodeImageResponseTimeout > 0, "nodeimage-response-timeout", c.NodeImageResponseTimeout, "want more than 0")
	v.check(c.ContainerRecreateRequestWorkers >= 1, "crr-workers", c.ContainerRecreateRequestWorkers, "want at least 1")
	v.check(c.QPS != 0, "rest-config-qps", c.QPS, "want requests per second, or -1 for no limit")
	v.check(c.QPS < 0 || c.Burst >= 1, "rest-config-burst", c.Burst, "want at least 1 while --rest-config-qps sets a limit")
	v.name("namespace", c.Namespace, validation.IsDNS1123Label, true)
	v.name("own-namespace", c.OwnNamespace, validation.IsDNS1123Label, false)
	v.address("metrics-addr", c.MetricsAddr)
	v.address("health-probe-addr", c.HealthProbeAddr)
	v.address("pprof-addr", c.PprofAddr)
	if c.LeaderElection.Enabled {
		v.leaderElection(c.LeaderElection)
	}
	if c.Webhook.Enabled {
		v.webhook(c)
	}
	return errors.Join(v...)
}

// checks collects what is wrong.
type checks []error

func (v *checks) check(ok bool, flag string, value any, rule string) {
	if !ok {
		*v = append(*v, fmt.Errorf("--%s=%v: %s", flag, value, rule))
	}
}

func (v *checks) leaderElection(l LeaderElection) {
	v.name("leader-election-id", l.ID, validation.IsDNS1123Subdomain, false)
	v.name("leader-election-namespace", l.Namespace, validation.IsDNS1123Label, true)
	v.check(l.RetryPeriod > 0, "leader-election-retry-period", l.RetryPeriod, "want more than 0")
	v.check(l.RenewDeadline > l.RetryPeriod*6/5, "leader-election-renew-deadline", l.RenewDeadline,
		fmt.Sprintf("want more than 1.2 times --leader-election-retry-period (%v)", l.RetryPeriod))
	v.check(l.LeaseDuration > l.RenewDeadline && l.LeaseDuration%time.Second == 0, "leader-election-lease-duration", l.LeaseDuration,
		fmt.Sprintf("want whole seconds, more than --leader-election-renew-deadline (%v)", l.RenewDeadline))
}

func (v *checks) webhook(c *Config) {
	w := c.Webhook
	v.check(w.Port >= 0 && w.Port <= 65535, "webhook-port", w.Port, "want 0 to 65535, where 0 takes a free port")
	v.check(w.BindAddress == "" || net.ParseIP(w.BindAddress) != nil, "webhook-bind-address", w.BindAddress, "want an IP address, or nothing for all")
	v.check(slices.Contains([]string{"", "fs", "secret"}, w.CertWriter), "webhook-cert-writer", w.CertWriter, `want "fs" or "secret"`)
	if net.ParseIP(w.Host) == nil {
		v.name("webhook-host", w.Host, validation.IsDNS1123Subdomain, true)
	}
	if w.Host == "" {
		v.name("webhook-service", w.Service, validation.IsDNS1035Label, false)
	}
	if c.certificatesInFolder() {
		v.check(w.CertDir != "", "webhook-cert-dir", w.CertDir, "want a folder to keep the certificates in")
	} else {
		v.name("webhook-secret", w.Secret, validation.IsDNS1123Subdomain, false)
	}
}

func (v *checks) name(flag, value string, rules func(string) []string, optional bool) {
	if optional && value == "" {
		return
	}
	broken := rules(value)
	v.check(len(broken) == 0, flag, value, strings.Join(broken, "; "))
}

func (v *checks) address(flag, value string) {
	if off(value) {
		return
	}
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	v.check(err == nil, flag, value, `want host:port or :port, or "0" for none`)
}

// off tells whether an address turns its server off.
func off(address string) bool { return address == "" || address == "0" }
