package app

import "github.com/spf13/pflag"

// legacySwitches are the boolean flags of OpenKruise's manager that have no
// effect here, with the reason.
var legacySwitches = map[string]string{
	"allow-privileged":             "the API server decides which pods are privileged",
	"assign-bcj-pods-by-scheduler": noController,
	"assign-pods-by-scheduler":     noController,
	"disable-no-deepcopy":          "caches are never copied and never changed",
	"logtostderr":                  "the log always goes to standard error",
	"alsologtostderr":              "the log always goes to standard error",
}

// legacyValues are the flags with a value.
var legacyValues = map[string]string{
	"leader-election-resource-lock": "the lock is a Lease",
	"sync-period":                   "caches are not gone through again: a controller asks for its next pass itself",
	"expectation-timeout":           "a controller waits until its caches have seen its own writes",
	"rate-limiter-base-delay":       fixedBackOff,
	"rate-limiter-max-delay":        fixedBackOff,
	"rate-limiter-qps":              fixedBackOff,
	"rate-limiter-bucket-size":      fixedBackOff,
	"daemonset-workers":             noController,
	"broadcastjob-workers":          noController,
	"advancedcronjob-workers":       noController,
	"sidecarset-workers":            noController,
	"uniteddeployment-workers":      noController,
	"workloadspread-workers":        noController,
	"podunavailablebudget-workers":  noController,
	"resourcedistribution-workers":  noController,
	"persistentpodstate-workers":    noController,
	"podprobemarker-workers":        noController,
	"nodepodprobe-workers":          noController,
	"sidecarterminator-workers":     noController,
}

const (
	noController = "the manager does not run that controller"
	fixedBackOff = "the back-off of a failing object is not configurable"
)

// addLegacy accepts these flags and collects the ones that are given.
func addLegacy(flags *pflag.FlagSet, given *[]string) {
	add := func(name, reason, noValue string) {
		flag := flags.VarPF(legacyFlag{name, reason, given}, name, "", "")
		flag.Hidden, flag.NoOptDefVal = true, noValue
	}
	for name, reason := range legacySwitches {
		add(name, reason, "true")
	}
	for name, reason := range legacyValues {
		add(name, reason, "")
	}
}

// legacyFlag is a pflag.Value that only remembers that it was given.
type legacyFlag struct {
	name, reason string
	given        *[]string
}

func (f legacyFlag) Set(string) error {
	*f.given = append(*f.given, "--"+f.name+": "+f.reason)
	return nil
}
func (legacyFlag) String() string { return "" }
func (legacyFlag) Type() string   { return "string" }
