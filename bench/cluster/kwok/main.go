// Command kwok is the controller of that name, which plays the kubelets of nodes that are not there. `kwok stages` prints what it is to do with them.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	nodes "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	pods "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "stages" {
		for _, stage := range []string{nodes.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease, pods.DefaultPodReady, pods.DefaultPodDelete} {
			fmt.Printf("---\n%s\n", stage)
		}
		return
	}
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := log.InitFlags(context.Background(), flags)
	ctx, err := config.InitFlags(ctx, flags)
	exitOn(err)
	command := cmd.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	exitOn(command.ExecuteContext(ctx))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
