{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE OverloadedStrings #-}

-- | benchmark.BenchmarkService. Int32 adds as the .proto says: it wraps around.
module Service (service) where

import Control.Exception (throwIO)
import Control.Monad (unless)
import Data.ByteString (ByteString)
import Data.ByteString.Builder (Builder)
import Data.Int (Int32)
import Grpc
import Protobuf

service :: [(ByteString, Method)]
service =
  [ ("/benchmark.BenchmarkService/GetSum", getSum),
    ("/benchmark.BenchmarkService/StreamSum", streamSum),
    ("/benchmark.BenchmarkService/CollectSum", collectSum),
    ("/benchmark.BenchmarkService/EchoSum", echoSum)
  ]

getSum :: Method
getSum requests = do
  fields <- receiveOne requests >>= decode
  pure (Replies (sumReply (sumOf fields)))

-- | The list of replies is lazy: each is made when there is room to send it.
streamSum :: Method
streamSum requests = do
  fields <- receiveOne requests >>= decode
  let count = max 1 (int32 3 fields)
  pure (Replies (foldMap (\i -> sumReply (sumOf fields + i)) [0 .. count - 1]))

collectSum :: Method
collectSum requests = go 0
  where
    go !total = do
      new <- receive requests >>= mapM decode
      if null new
        then pure (Replies (sumReply total))
        else go (total + sum (map sumOf new))

echoSum :: Method
echoSum requests = pure (Stream go)
  where
    go :: (Builder -> IO ()) -> IO ()
    go send = do
      new <- receive requests >>= mapM decode
      unless (null new) $ do
        send (foldMap (sumReply . sumOf) new)
        go send

decode :: ByteString -> IO Fields
decode = maybe (throwIO malformed) pure . parse

sumOf :: Fields -> Int32
sumOf fields = int32 1 fields + int32 2 fields

sumReply :: Int32 -> Builder
sumReply = message . encodeInt32 1
